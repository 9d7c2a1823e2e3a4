// SPDX-License-Identifier: Apache-2.0

// Package strict reads JSON as it is meant: one value, every field known and
// spelled exactly, none given twice. encoding/json by itself takes a field in any
// case and the last of those that repeat, so that a request with "nodes" and
// "NODES" in it would be carried out with one of them.
package strict

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// MaxDepth bounds the nesting of a document.
const MaxDepth = 32

// Decode fills v, a pointer, from data. Every field that is unknown or given
// twice is named with its place.
func Decode(data []byte, v any) error {
	w := walker{dec: json.NewDecoder(bytes.NewReader(data))}
	w.dec.UseNumber()
	err := w.value(reflect.TypeOf(v).Elem(), "", 0)
	if err == nil {
		if _, more := w.dec.Token(); !errors.Is(more, io.EOF) {
			w.wrong("something follows the first JSON value")
		}
	}
	if err = errors.Join(append(w.errs, err)...); err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// walker reads a document's tokens beside the type that it is to fill.
type walker struct {
	dec  *json.Decoder
	errs []error
}

// maxMistakes is as many as anybody mends at once.
const maxMistakes = 20

func (w *walker) wrong(format string, args ...any) {
	if len(w.errs) < maxMistakes {
		w.errs = append(w.errs, fmt.Errorf(format, args...))
	}
}

func (w *walker) value(t reflect.Type, path string, depth int) error {
	if depth > MaxDepth {
		return fmt.Errorf("%s is nested more than %d deep", path, MaxDepth)
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	tok, err := w.dec.Token()
	if err != nil {
		return err
	}
	switch tok {
	case json.Delim('{'):
		if err := w.object(t, path, depth); err != nil {
			return err
		}
	case json.Delim('['):
		elem := reflect.TypeFor[any]()
		if (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && !readsItself(t) {
			elem = t.Elem()
		}
		for i := 0; w.dec.More(); i++ {
			if err := w.value(elem, fmt.Sprintf("%s[%d]", path, i), depth+1); err != nil {
				return err
			}
		}
	default:
		return nil
	}
	_, err = w.dec.Token() // the closing bracket
	return err
}

func (w *walker) object(t reflect.Type, path string, depth int) error {
	elem, fields := reflect.TypeFor[any](), map[string]reflect.Type(nil)
	switch {
	case readsItself(t):
	case t.Kind() == reflect.Struct:
		fields = jsonFields(t)
	case t.Kind() == reflect.Map:
		elem = t.Elem()
	}
	seen := map[string]bool{}
	for w.dec.More() {
		tok, err := w.dec.Token()
		if err != nil {
			return err
		}
		key, _ := tok.(string)
		at, of := fmt.Sprintf("%.100q", key), elem
		if path != "" {
			at += fmt.Sprintf(" in %.200s", path)
		}
		if seen[key] {
			w.wrong("field %s is given twice", at)
		}
		seen[key] = true
		if fields != nil {
			known, ok := fields[key]
			if !ok {
				w.wrong("unknown field %s: check spelling and case", at)
				known = reflect.TypeFor[any]()
			}
			of = known
		}
		name := fmt.Sprintf("%.100s", key)
		if path != "" {
			name = path + "." + name
		}
		if err := w.value(of, name, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// readsItself reports whether a type has JSON of its own making.
func readsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// jsonFields gives the types of a struct's fields by JSON name, those of embedded
// structs included.
func jsonFields(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			for k, v := range jsonFields(f.Type) {
				out[k] = v
			}
		case name == "":
			out[f.Name] = f.Type
		default:
			out[name] = f.Type
		}
	}
	return out
}
