// SPDX-License-Identifier: Apache-2.0

package reservation

import (
	"fmt"
	"math"
	"time"

	"github.com/berth-gpu/berth/internal/tick"
	"github.com/berth-gpu/berth/internal/wire"
)

// A coder writes values to b, or, if r is set, reads them: each layout is
// written down once and serves both ways. Writing only reads the values, since
// other goroutines may be reading them too.
type coder struct {
	b   []byte
	r   *wire.Reader
	err error // of writing: a value that has no encoding
}

func (c *coder) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
	}
}

func (c *coder) str(v *string) {
	if c.r != nil {
		*v = c.r.String()
		return
	}
	c.b = wire.AppendString(c.b, *v)
}

func (c *coder) int(v *int64) {
	if c.r != nil {
		*v = c.r.Int()
		return
	}
	c.b = wire.AppendInt(c.b, *v)
}

func (c *coder) uint(v *uint64) {
	if c.r != nil {
		*v = c.r.Uint()
		return
	}
	c.b = wire.AppendUint(c.b, *v)
}

func (c *coder) bool(v *bool) {
	if c.r != nil {
		*v = c.r.Bool()
		return
	}
	c.b = wire.AppendBool(c.b, *v)
}

func (c *coder) class(v *Class) {
	n := uint64(*v)
	c.uint(&n)
	if c.r == nil {
		return
	}
	if n > uint64(Standby) {
		c.r.Fail("class is %d", n)
		n = 0
	}
	*v = Class(n)
}

func (c *coder) phase(v *Phase) {
	n := uint64(*v)
	c.uint(&n)
	if c.r == nil {
		return
	}
	if n > uint64(Merged) {
		c.r.Fail("phase is %d", n)
		n = 0
	}
	*v = Phase(n)
}

// instant is a tick that is never tick.Forever.
func (c *coder) instant(v *int64) {
	c.int(v)
	if c.r != nil && c.r.Err() == nil && !tick.InRange(*v) {
		c.r.Fail("instant %d is out of range", *v)
	}
}

// until is a tick that may be tick.Forever.
func (c *coder) until(v *int64) {
	open := *v == tick.Forever
	c.bool(&open)
	if !open {
		c.instant(v)
	} else if c.r != nil {
		*v = tick.Forever
	}
}

func (c *coder) time(v *time.Time) {
	var n int64
	if c.r == nil {
		var err error
		if n, err = tick.Exact(*v); err != nil {
			c.fail("%w", err)
		}
	}
	c.instant(&n)
	if c.r != nil {
		*v = tick.Time(n)
	}
}

// end is an instant whose zero value means none.
func (c *coder) end(v *time.Time) {
	none := v.IsZero()
	c.bool(&none)
	if none {
		if c.r != nil {
			*v = time.Time{}
		}
		return
	}
	c.time(v)
	if c.r != nil && c.r.Err() == nil && v.IsZero() {
		c.r.Fail("an instant that means none")
	}
}

func (c *coder) duration(v *time.Duration) {
	n := int64(*v / time.Second)
	if c.r == nil && (*v < 0 || *v%time.Second != 0) {
		c.fail("duration %s", *v)
	}
	c.seconds(&n)
	if c.r != nil {
		*v = time.Duration(n) * time.Second
	}
}

func (c *coder) seconds(v *int64) {
	n := uint64(*v)
	c.uint(&n)
	if c.r == nil {
		return
	}
	if n > math.MaxInt64/uint64(time.Second) {
		c.r.Fail("duration of %d seconds", n)
		n = 0
	}
	*v = int64(n)
}

// list codes a counted list whose items take at least min bytes.
func list[T any](c *coder, v *[]T, min int, item func(*T)) {
	if c.r == nil {
		c.b = wire.AppendUint(c.b, uint64(len(*v)))
		for i := range *v {
			item(&(*v)[i])
		}
		return
	}
	n := c.r.Count(min)
	*v = nil
	if n > 0 {
		*v = make([]T, n)
	}
	for i := 0; i < n && c.r.Err() == nil; i++ {
		item(&(*v)[i])
	}
}

func (c *coder) names(v *[]string) { list(c, v, 1, c.str) }

func (c *coder) unit(v *Unit) {
	c.str(&v.Name)
	c.names(&v.Path)
	c.bool(&v.Spare)
}

func (c *coder) pool(v *Pool) {
	c.str(&v.Name)
	c.int(&v.GPUsPerUnit)
	c.str(&v.Label)
	list(c, &v.Units, 3, c.unit)
	c.policy(&v.Policy)
	c.names(&v.Levels)
	c.regime(&v.Regime)
	list(c, &v.Cells, 2, c.cell)
}

func (c *coder) requestLine(v *Line) {
	c.str(&v.Pool)
	c.int(&v.Count)
	c.names(&v.Nodes)
	c.str(&v.Within)
}

func (c *coder) request(v *Request) {
	c.str(&v.ID)
	c.str(&v.Owner)
	c.str(&v.Note)
	c.class(&v.Class)
	c.time(&v.Window.Start)
	c.end(&v.Window.End)
	list(c, &v.Lines, 4, c.requestLine)
	c.str(&v.Continues)
}

func (c *coder) span(v *Span) {
	c.time(&v.From)
	c.end(&v.To)
	c.duration(&v.Cleanup)
	c.duration(&v.Lead)
}

func (c *coder) planOf(v *Plan) {
	c.str(&v.ID)
	c.names(&v.Nodes)
	c.bool(&v.Near)
}

func (c *coder) outage(v *Outage) {
	c.str(&v.ID)
	c.str(&v.Owner)
	c.str(&v.Reason)
	c.names(&v.Nodes)
	c.time(&v.Window.Start)
	c.end(&v.Window.End)
	c.outageMode(&v.Mode)
}

func (c *coder) outageMode(v *OutageMode) {
	n := uint64(*v)
	c.uint(&n)
	if c.r == nil {
		return
	}
	if n > uint64(Drain) {
		c.r.Fail("outage mode is %d", n)
		n = 0
	}
	*v = OutageMode(n)
}
