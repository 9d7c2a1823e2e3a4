// SPDX-License-Identifier: Apache-2.0

package web

import (
	"html"
	"html/template"
	"math"
	"strconv"
)

// An svg is a picture in the making. Element and attribute names are this
// package's constants; every value and text passes through here and is
// escaped, so that a picture cannot carry a tenant's markup.
type svg struct{ b []byte }

// el writes an empty element with attributes given as name, value pairs.
func (s *svg) el(name string, attrs ...any) {
	s.tag(name, attrs)
	s.b = append(s.b, "/>"...)
}

// open begins an element, end closes it.
func (s *svg) open(name string, attrs ...any) {
	s.tag(name, attrs)
	s.b = append(s.b, '>')
}

func (s *svg) end(name string) {
	s.b = append(s.b, "</"...)
	s.b = append(s.b, name...)
	s.b = append(s.b, '>')
}

// text writes an element that holds only text.
func (s *svg) text(name, content string, attrs ...any) {
	s.open(name, attrs...)
	s.b = append(s.b, html.EscapeString(content)...)
	s.end(name)
}

func (s *svg) tag(name string, attrs []any) {
	s.b = append(s.b, '<')
	s.b = append(s.b, name...)
	for i := 0; i+1 < len(attrs); i += 2 {
		key, _ := attrs[i].(string)
		s.b = append(s.b, ' ')
		s.b = append(s.b, key...)
		s.b = append(s.b, `="`...)
		switch v := attrs[i+1].(type) {
		case string:
			s.b = append(s.b, html.EscapeString(v)...)
		case float64:
			s.b = appendCoord(s.b, v)
		case int:
			s.b = strconv.AppendInt(s.b, int64(v), 10)
		case int64:
			s.b = strconv.AppendInt(s.b, v, 10)
		}
		s.b = append(s.b, '"')
	}
}

func (s *svg) html() template.HTML { return template.HTML(s.b) }

// appendCoord writes a coordinate to a tenth, without a needless ".0".
func appendCoord(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0
	}
	v = math.Round(v*10) / 10
	if v == 0 {
		v = 0 // no "-0"
	}
	return strconv.AppendFloat(b, v, 'f', -1, 64)
}

// A path is the d attribute of a path element.
type path struct{ b []byte }

func (p *path) move(x, y float64) { p.to('M', x, y) }
func (p *path) line(x, y float64) { p.to('L', x, y) }
func (p *path) close()            { p.b = append(p.b, 'Z') }

func (p *path) to(op byte, x, y float64) {
	p.b = append(p.b, op)
	p.b = appendCoord(p.b, x)
	p.b = append(p.b, ' ')
	p.b = appendCoord(p.b, y)
}

// box adds a rectangle.
func (p *path) box(x, y, w, h float64) {
	p.move(x, y)
	for _, leg := range []struct {
		op byte
		d  float64
	}{{'h', w}, {'v', h}, {'h', -w}} {
		p.b = append(p.b, leg.op)
		p.b = appendCoord(p.b, leg.d)
	}
	p.close()
}

func (p *path) String() string { return string(p.b) }
