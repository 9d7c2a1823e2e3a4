// SPDX-License-Identifier: Apache-2.0

package reservation

import "github.com/berth-gpu/berth/reservation/recur"

func (e SeriesMade) code(c *coder) Event {
	c.time(&e.At)
	c.seriesOf(&e.Series)
	c.int(&e.Next)
	c.window(&e.Head)
	return e
}

func (e OccurrenceBooked) code(c *coder) Event {
	e.Booked, _ = e.Booked.code(c).(Booked)
	c.str(&e.Series)
	c.int(&e.Index)
	c.int(&e.Shift)
	return e
}

func (e SeriesContinued) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	c.int(&e.Next)
	c.head(&e.Head)
	return e
}

func (e SeriesStopped) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	return e
}

func (e Waited) code(c *coder) Event {
	c.time(&e.At)
	c.waiting(&e.Waiting)
	return e
}

func (e Withdrawn) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	return e
}

func (e WaitLapsed) code(c *coder) Event {
	c.time(&e.At)
	c.str(&e.ID)
	return e
}

func (c *coder) window(v *Window) {
	c.time(&v.Start)
	c.time(&v.End)
}

// head is a window whose zero value means none.
func (c *coder) head(v *Window) {
	none := *v == (Window{})
	c.bool(&none)
	if none {
		if c.r != nil {
			*v = Window{}
		}
		return
	}
	c.window(v)
	if c.r != nil && c.r.Err() == nil && *v == (Window{}) {
		c.r.Fail("a window that means none")
	}
}

func (c *coder) rule(v *recur.Rule) {
	if c.r == nil {
		text, err := v.MarshalText()
		if err != nil {
			c.fail("%w", err)
		}
		s := string(text)
		c.str(&s)
		return
	}
	var s string
	c.str(&s)
	if err := v.UnmarshalText([]byte(s)); err != nil && c.r.Err() == nil {
		c.r.Fail("%v", err)
	}
}

func (c *coder) seriesOf(v *Series) {
	c.str(&v.ID)
	c.str(&v.Owner)
	c.str(&v.Note)
	list(c, &v.Lines, 3, c.requestLine)
	c.rule(&v.Rule)
	c.str(&v.Zone)
	n := uint64(v.OnConflict)
	c.uint(&n)
	if c.r != nil {
		if n > uint64(ShiftWithin) {
			c.r.Fail("OnConflict is %d", n)
			n = 0
		}
		v.OnConflict = OnConflict(n)
	}
	c.duration(&v.Shift)
	c.duration(&v.BookAhead)
}

func (c *coder) seriesStatus(v *SeriesStatus) {
	c.seriesOf(&v.Series)
	c.time(&v.Created)
	c.int(&v.Next)
	c.head(&v.Head)
	c.bool(&v.Stopped)
}

func (c *coder) waiting(v *Waiting) {
	c.str(&v.ID)
	c.str(&v.Owner)
	c.str(&v.Note)
	list(c, &v.Lines, 3, c.requestLine)
	c.duration(&v.Length)
	c.end(&v.Earliest)
	c.end(&v.Latest)
	c.end(&v.Deadline)
	c.duration(&v.Align)
	c.int(&v.Priority)
	c.duration(&v.TTL)
}

func (c *coder) waiter(v *Waiter) {
	c.waiting(&v.Waiting)
	c.time(&v.Since)
	c.uint(&v.Seq)
	c.int(&v.Passed)
}
