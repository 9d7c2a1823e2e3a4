// SPDX-License-Identifier: Apache-2.0

package cdi

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// ErrInvalidSpec is matched by every refusal of [New], [Encode], [Parse] and [Spec.Validate].
var ErrInvalidSpec = errors.New("cdi: invalid spec")

// maxAnnotations bounds keys and values of one object in bytes. Source: the CDI library, which takes the limit of Kubernetes.
const maxAnnotations = 256 << 10

// Validate reports everything that is wrong, in the order of the document. It is at least as strict as the runtimes: whatever passes is
// accepted by the CDI library v1.1.2. Cost: O(size of the document).
//
// Possible errors: [ErrInvalidSpec].
func (s Spec) Validate() error {
	v := &validator{}
	switch minimum := MinimumVersion(s); {
	case !slices.Contains(versions, s.Version):
		v.bad("cdiVersion", s.Version, "want one of "+strings.Join(versions, ", "))
	case slices.Index(versions, s.Version) < slices.Index(versions, minimum):
		v.bad("cdiVersion", s.Version, "the fields in use need at least "+minimum)
	}
	if err := validateKind(s.Kind); err != nil {
		v.errs = append(v.errs, err)
	}
	v.annotations("annotations", s.Annotations)
	if len(s.Devices) == 0 {
		v.bad("devices", "[]", "want at least one device")
	}
	names := map[string]int{}
	for i, device := range s.Devices {
		field := deviceField(i, "name")
		if !isName(device.Name, ".-_:") {
			v.bad(field, device.Name, "want letters, digits, '-', '_', '.' or ':', the first and the last a letter or digit")
		}
		if first, dup := names[device.Name]; dup {
			v.bad(field, device.Name, fmt.Sprintf("is also that of devices[%d]; a runtime resolves neither", first))
		} else {
			names[device.Name] = i
		}
		v.annotations(deviceField(i, "annotations"), device.Annotations)
		if device.ContainerEdits.IsZero() {
			v.bad(deviceField(i, "containerEdits"), "{}", "a device must change something")
		}
	}
	for _, edits := range s.edits() {
		v.edits(edits.field, edits.ContainerEdits)
	}
	return errors.Join(v.errs...)
}

func deviceField(i int, field string) string { return fmt.Sprintf("devices[%d].%s", i, field) }

type validator struct{ errs []error }

func (v *validator) bad(field, value, problem string) {
	v.errs = append(v.errs, fmt.Errorf("%w: %s %q: %s", ErrInvalidSpec, cut(field), cut(value), problem))
}

// shown is how many bytes of a value a message repeats.
const shown = 100

// cut shortens a text for a message, at the end of a character.
func cut(text string) string {
	if len(text) <= shown {
		return text
	}
	end := shown
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// text checks what JSON cannot carry unchanged (E1) or a path and a variable cannot hold.
func (v *validator) text(field, value string) {
	if !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
		v.bad(field, value, "must be UTF-8 without a zero byte")
	}
}

func (v *validator) texts(field string, values []string) {
	for i, value := range values {
		v.text(fmt.Sprintf("%s[%d]", field, i), value)
	}
}

func (v *validator) absolute(field, value string) {
	v.text(field, value)
	if !strings.HasPrefix(value, "/") || path.Clean(value) != value {
		v.bad(field, value, "want an absolute path without '.', '..' and '//'")
	}
}

// annotations checks keys as Kubernetes does: an optional prefix that is a DNS subdomain, "/", and a name.
func (v *validator) annotations(field string, annotations map[string]string) {
	size := 0
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		value := annotations[key]
		size += len(key) + len(value)
		prefix, name, prefixed := strings.Cut(key, "/")
		if !prefixed {
			prefix, name = "x", key
		}
		if !isName(name, ".-_") || len(name) > 63 || !isSubdomain(prefix) {
			v.bad(field, key, "want [subdomain/]name, the name of 1 to 63 letters, digits, '-', '_' or '.'")
		}
		v.text(field+"."+key, value)
	}
	if size > maxAnnotations {
		v.bad(field, fmt.Sprint(size), fmt.Sprintf("must not hold more than %d bytes", maxAnnotations))
	}
}

// isSubdomain reports whether text is a DNS subdomain (RFC 1123). Lower case only, so that two keys never mean the same.
func isSubdomain(text string) bool {
	if len(text) > 253 || strings.ToLower(text) != text {
		return false
	}
	for label := range strings.SplitSeq(text, ".") {
		if !isName(label, "-") {
			return false
		}
	}
	return true
}
