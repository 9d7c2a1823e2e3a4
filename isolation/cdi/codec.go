// SPDX-License-Identifier: Apache-2.0

package cdi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"
)

// MaxBytes is the largest document that [Parse] reads.
const MaxBytes = 4 << 20

// Encode writes the document as indented JSON with a final newline. Equal specs give equal bytes (E1): fields come in the order of the
// schema, annotations by key.
//
// Possible errors: [ErrInvalidSpec]; an invalid document is never written (E4).
func Encode(spec Spec) ([]byte, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(spec); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidSpec, err)
	}
	return out.Bytes(), nil
}

// Parse reads one JSON document and validates it (E4). It is strict, because a field that two readers understand differently is a hole in
// the wall: unknown fields, fields in another case, fields that occur twice, null, bytes that are not UTF-8 and anything after the
// document are refused. Empty lists become absent ones (E1).
//
// Possible errors: [ErrInvalidSpec].
func Parse(data []byte) (Spec, error) {
	if len(data) > MaxBytes {
		return Spec{}, fmt.Errorf("%w: document of %d bytes: at most %d", ErrInvalidSpec, len(data), MaxBytes)
	}
	if !utf8.Valid(data) {
		return Spec{}, fmt.Errorf("%w: document is not UTF-8", ErrInvalidSpec)
	}
	if err := checkFields(data); err != nil {
		return Spec{}, fmt.Errorf("%w: %w", ErrInvalidSpec, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var spec Spec
	if err := decoder.Decode(&spec); err != nil {
		return Spec{}, fmt.Errorf("%w: %w", ErrInvalidSpec, err)
	}
	dropEmpty(reflect.ValueOf(&spec).Elem())
	if err := spec.Validate(); err != nil {
		return Spec{}, err
	}
	return spec, nil
}

// checkFields walks the tokens for what encoding/json lets pass: a field twice, a field in another case, null, a second document.
func checkFields(data []byte) error {
	known := map[string]bool{}
	collectFields(reflect.TypeFor[Spec](), known)
	decoder := json.NewDecoder(bytes.NewReader(data))
	if err := checkValue(decoder, known, "document", false, maxDepth); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("byte %d: there is something after the document", decoder.InputOffset())
	}
	return nil
}

// collectFields gathers the JSON names of a struct and all structs inside.
func collectFields(typ reflect.Type, known map[string]bool) {
	switch typ.Kind() {
	case reflect.Slice, reflect.Pointer:
		collectFields(typ.Elem(), known)
	case reflect.Struct:
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			known[name] = true
			collectFields(typ.Field(i).Type, known)
		}
	}
}

// maxDepth bounds nesting, and with it the stack; the schema needs 7.
const maxDepth = 10

// checkValue reads one value; the keys of a free object (annotations) are not field names.
func checkValue(decoder *json.Decoder, known map[string]bool, field string, free bool, depth int) error {
	if depth == 0 {
		return fmt.Errorf("byte %d: %s is nested too deep", decoder.InputOffset(), cut(field))
	}
	token, err := decoder.Token()
	if err != nil {
		return fmt.Errorf("byte %d: %w", decoder.InputOffset(), err)
	}
	switch token {
	case nil:
		return fmt.Errorf("byte %d: %s is null: leave it out", decoder.InputOffset(), cut(field))
	case json.Delim('['):
		for decoder.More() {
			if err := checkValue(decoder, known, field, free, depth-1); err != nil {
				return err
			}
		}
		_, err = decoder.Token()
	case json.Delim('{'):
		seen := map[string]bool{}
		for decoder.More() {
			key, err := decoder.Token()
			if err != nil {
				return fmt.Errorf("byte %d: %w", decoder.InputOffset(), err)
			}
			name, _ := key.(string)
			if seen[name] {
				return fmt.Errorf("byte %d: field %q occurs twice", decoder.InputOffset(), cut(name))
			}
			seen[name] = true
			if !free && !known[name] {
				return fmt.Errorf("byte %d: unknown field %q", decoder.InputOffset(), cut(name))
			}
			if err := checkValue(decoder, known, name, name == "annotations", depth-1); err != nil {
				return err
			}
		}
		_, err = decoder.Token()
	}
	if err != nil {
		return fmt.Errorf("byte %d: %w", decoder.InputOffset(), err)
	}
	return nil
}

// dropEmpty makes empty lists and maps nil, which is how [Encode] writes them.
func dropEmpty(value reflect.Value) {
	switch value.Kind() {
	case reflect.Struct:
		for i := range value.NumField() {
			dropEmpty(value.Field(i))
		}
	case reflect.Slice, reflect.Map:
		if value.Len() == 0 {
			value.SetZero()
			return
		}
		for i := 0; value.Kind() == reflect.Slice && i < value.Len(); i++ {
			dropEmpty(value.Index(i))
		}
	case reflect.Pointer:
		if !value.IsNil() {
			dropEmpty(value.Elem())
		}
	}
}
