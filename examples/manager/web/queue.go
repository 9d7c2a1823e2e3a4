// SPDX-License-Identifier: Apache-2.0

package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/berth-gpu/berth/examples/manager/views"
)

// queuePage is the waiting jobs with their reasons, and the running ones.
type queuePage struct {
	base
	views.Queue
	Reasons []reasonCount
}

// A reasonCount is how many of the shown jobs wait for one reason.
type reasonCount struct {
	Code  string
	Title string
	Jobs  int
}

const maxQueueRows = 1000

func (s *server) queue(viewer string, r *http.Request) (result, error) {
	limit := s.opt.QueueRows
	if v := r.Form.Get("limit"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > maxQueueRows {
			return result{}, bad("limit", v, "is no number from 1 to "+strconv.Itoa(maxQueueRows))
		}
		limit = n
	}
	page := queuePage{base: s.base(viewer, "Queue", "queue"), Queue: s.src.Queue(viewer, limit)}
	page.Reasons = reasons(page.Waiting)
	page.live("/queue", url.Values{"limit": {strconv.Itoa(limit)}})
	return result{template: "queue", data: page}, nil
}

// reasons counts the reasons, the most frequent first.
func reasons(jobs []views.Job) []reasonCount {
	at := map[[2]string]int{}
	var out []reasonCount
	for _, j := range jobs {
		if j.Reason == nil {
			continue
		}
		key := [2]string{j.Reason.Code, j.Reason.Title}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, reasonCount{Code: j.Reason.Code, Title: j.Reason.Title})
		}
		out[i].Jobs++
	}
	slices.SortFunc(out, func(a, b reasonCount) int {
		return cmp.Or(cmp.Compare(b.Jobs, a.Jobs), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Title, b.Title))
	})
	return out
}
