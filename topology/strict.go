// SPDX-License-Identifier: Apache-2.0

package topology

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

// lineIndex remembers where the elements of the top-level arrays begin, to give later mistakes their line.
type lineIndex struct {
	data   []byte
	starts map[string]int // "nodes[3]" → offset
	at     int            // where line counted to last
	breaks int            // line breaks before at
}

// line gives the line of an offset. Asked in ascending order it reads the document once.
func (l *lineIndex) line(offset int) int {
	offset = min(max(offset, 0), len(l.data))
	if offset < l.at {
		l.at, l.breaks = 0, 0
	}
	l.breaks += bytes.Count(l.data[l.at:offset], []byte("\n"))
	l.at = offset
	return 1 + l.breaks
}

// name gives every mistake that has a place in the document the line of that place.
func (l *lineIndex) name(m *mistakes) {
	for _, e := range m.list {
		top, _, _ := strings.Cut(e.Field, ".")
		if at, ok := l.starts[top]; ok && e.Line == 0 {
			e.Line = l.line(at)
		}
	}
}

// decodeStrict fills v from exactly one JSON value whose object keys must be the JSON names of v's fields, each at most
// once. encoding/json alone takes any case and repeated keys, and cannot say where an unknown one is.
func decodeStrict(data []byte, v any, m *mistakes) *lineIndex {
	lines := &lineIndex{data: data, starts: map[string]int{}}
	w := walker{dec: json.NewDecoder(bytes.NewReader(data)), lines: lines, m: m}
	w.dec.UseNumber()
	err := w.value(reflect.TypeOf(v).Elem(), "")
	if err == nil {
		if _, more := w.dec.Token(); !errors.Is(more, io.EOF) {
			m.addLine(lines.line(int(w.dec.InputOffset())), ErrSyntax, "document", "", "end the document after one JSON value")
			return lines
		}
	}
	if err == nil && !m.any() {
		err = json.Unmarshal(data, v)
	}
	if err == nil {
		return lines
	}
	offset, field, hint := int(w.dec.InputOffset()), "document", "repair the JSON: "+err.Error()
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = int(e.Offset)
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset = int(e.Offset)
		if e.Field != "" {
			field = strings.ReplaceAll(e.Field, "NodeSpec.", "") // the embedded struct is not in the document
		}
		hint = fmt.Sprintf("the value must be of kind %s, not %s", e.Type.Kind(), e.Value)
	}
	if e, ok := errors.AsType[*FieldError](err); ok {
		m.addLine(0, e.Reason, e.Field, e.Value, e.Hint)
		return lines
	}
	m.addLine(lines.line(offset), ErrSyntax, field, "", hint)
	return lines
}

// maxDepth bounds the nesting of a document; the format itself needs 6.
const maxDepth = 32

// walker reads the tokens of a document beside the type that it must fill.
type walker struct {
	dec   *json.Decoder
	lines *lineIndex
	m     *mistakes
	depth int
}

func (w *walker) value(t reflect.Type, path string) error {
	if strings.HasSuffix(path, "]") && !strings.Contains(path, ".") && strings.Count(path, "[") == 1 {
		at := int(w.dec.InputOffset())
		for at < len(w.lines.data) && strings.IndexByte(" \t\r\n,", w.lines.data[at]) >= 0 {
			at++
		}
		w.lines.starts[path] = at
	}
	tok, err := w.dec.Token()
	if err != nil {
		return err
	}
	if w.depth++; w.depth > maxDepth {
		return fmt.Errorf("%s is nested more than %d deep", path, maxDepth)
	}
	defer func() { w.depth-- }()
	if _, text := tok.(string); text && isList(t) { // encoding/json would take a list of bytes as base64
		w.mistake(path, fmt.Sprint(tok), "give an array")
	}
	switch tok {
	case json.Delim('{'):
		return w.object(t, path)
	case json.Delim('['):
		elem := reflect.TypeFor[any]()
		if isList(t) {
			elem = t.Elem()
		}
		for i := 0; w.dec.More(); i++ {
			if err := w.value(elem, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		_, err = w.dec.Token()
	}
	return err
}

// mistake notes what is wrong at the place read last. The line is looked for only if the mistake is kept.
func (w *walker) mistake(path, value, hint string) {
	line := 0
	if !w.m.full() {
		line = w.lines.line(int(w.dec.InputOffset()))
	}
	w.m.addLine(line, ErrSyntax, path, value, hint)
}

func isList(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && !reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func (w *walker) object(t reflect.Type, path string) error {
	var fields map[string]reflect.Type
	if t.Kind() == reflect.Struct {
		fields = jsonFields(t)
	}
	seen := map[string]bool{}
	for w.dec.More() {
		tok, err := w.dec.Token()
		if err != nil {
			return err
		}
		key := tok.(string)
		at := cut(key, valueShown) // every element below repeats it
		if path != "" {
			at = path + "." + at
		}
		if seen[key] {
			w.mistake(at, key, "give each field once")
		}
		seen[key] = true
		elem := reflect.TypeFor[any]()
		if t.Kind() == reflect.Map {
			elem = t.Elem()
		}
		if fields != nil {
			known, ok := fields[key]
			if ok {
				elem = known
			} else {
				w.mistake(at, key, "no such field; check spelling and case")
			}
		}
		if err := w.value(elem, at); err != nil {
			return err
		}
	}
	_, err := w.dec.Token()
	return err
}

// jsonFields gives the types of a struct's fields by JSON name, those of embedded structs included.
func jsonFields(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			for k, v := range jsonFields(f.Type) {
				out[k] = v
			}
			continue
		}
		out[name] = f.Type
	}
	return out
}
