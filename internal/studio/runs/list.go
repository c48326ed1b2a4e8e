package runs

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Filter says which runs a list shows. Its zero value shows all that the visitor may see of their own.
type Filter struct {
	// Dataset is empty for all datasets; then the list has the visitor's own runs only.
	Dataset string
	// State is one of StateNames, Kind one of the kinds of runs, Model a model or a version of one, and By an e-mail address or "me".
	State, Kind, Model, By string
	// Text is looked for in the names, the ids and the sentences of runs.
	Text string
	// Limit is the length of a page, Cursor where it begins; empty for the newest.
	Limit  int
	Cursor string
}

// List is a page of a list of runs, newest first.
type List struct {
	Runs []Row `json:"runs"`
	// Next is the cursor of the page after it, empty on the last.
	Next string `json:"next,omitempty"`
	// Role is the visitor's in the dataset, where the list is of one.
	Role clowder.Role `json:"-"`
}

const (
	// defaultLimit and maxLimit are lengths of a page.
	defaultLimit = 50
	maxLimit     = 200
	// maxScanned is how many records one page looks at, where few of them match.
	maxScanned = 2000
	// batch is how many records are read at once.
	batch = 200
	// atOnce is how many folders or roles are looked at together.
	atOnce = 8
)

// list returns a page of runs that the visitor may see.
func (s *Section) list(ctx context.Context, f Filter) (List, error) {
	v := web.VisitorOf(ctx)
	if f.By == "me" || f.Dataset == "" {
		f.By = v.Email
	}
	out := List{Runs: []Row{}}
	if f.Dataset != "" {
		var err error
		if out.Role, err = s.look(ctx, f.Dataset); err != nil {
			return out, err
		}
	}
	before, err := decodeCursor(f.Cursor)
	if err != nil {
		return out, err
	}
	f.Limit = min(max(f.Limit, 0), maxLimit)
	if f.Limit == 0 {
		f.Limit = defaultLimit
	}
	found, next, err := s.scan(ctx, f, before)
	if err != nil {
		return out, err
	}
	if f.Dataset == "" {
		if found, err = s.visible(ctx, v, found); err != nil {
			return out, err
		}
	}
	out.Next, out.Runs = next, s.rows(found)
	return out, nil
}

// scan reads records, newest first, until a page is full, all are read, or maxScanned were. next is where the next page begins.
func (s *Section) scan(ctx context.Context, f Filter, before job.Position) (found []job.Record, next string, err error) {
	for scanned := 0; scanned < maxScanned; {
		q := job.Query{Dataset: f.Dataset, User: f.By, Before: before, Limit: batch}
		switch f.State {
		case StateWaiting, StateRunning:
			q.Active = true
		case StateDone, StateFailed, StateCancelled:
			q.Over = true
		}
		if plain := f.State+f.Kind+f.Model+f.Text == ""; plain {
			q.Limit = f.Limit + 1 + f.Limit/4 // requests about runs stand between them
		}
		records, err := s.records.List(ctx, q)
		if err != nil {
			return nil, "", err
		}
		for _, rec := range slices.Backward(records) {
			if !s.shows(rec) || !s.matches(rec, f) {
				before = rec.Position()
				continue
			}
			if len(found) == f.Limit {
				return found, encodeCursor(before), nil
			}
			found, before = append(found, rec), rec.Position()
		}
		if len(records) < q.Limit {
			return found, "", nil
		}
		scanned += len(records)
	}
	return found, encodeCursor(before), nil
}

// matches reports whether a record is what the filter asks for. The store has looked at dataset and user.
func (s *Section) matches(rec job.Record, f Filter) bool {
	if f.State != "" && stateOf(rec).Name != f.State || f.Kind != "" && s.forms.Of(rec.Request).Kind != f.Kind {
		return false
	}
	if f.Model != "" {
		m := modelOf(rec)
		if m == nil || m.Name != f.Model && m.Ref != f.Model {
			return false
		}
	}
	if f.Text == "" {
		return true
	}
	wanted := strings.ToLower(strings.TrimSpace(f.Text))
	words := []string{rec.Run, rec.Settings.RunName, rec.Request.Name, rec.Request.JobID}
	if rec.Ending != nil {
		words = append(words, rec.Ending.Text)
	}
	return slices.ContainsFunc(words, func(s string) bool { return strings.Contains(strings.ToLower(s), wanted) })
}

// visible leaves out the runs of datasets that the visitor may no longer see.
func (s *Section) visible(ctx context.Context, v *web.Visitor, records []job.Record) (out []job.Record, err error) {
	var datasets []string
	for _, rec := range records {
		if id := rec.Request.DatasetID; !slices.Contains(datasets, id) {
			datasets = append(datasets, id)
		}
	}
	roles, errs, gone := make([]clowder.Role, len(datasets)), make([]error, len(datasets)), make([]bool, len(datasets))
	together(len(datasets), func(i int) {
		roles[i], errs[i] = s.rights.Role(ctx, v, datasets[i])
		if errs[i] == nil && roles[i] == clowder.NoRole {
			gone[i] = s.datasetGone(ctx, v, datasets[i])
		}
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	for _, rec := range records {
		if i := slices.Index(datasets, rec.Request.DatasetID); roles[i] != clowder.NoRole || gone[i] && started(rec, v) {
			out = append(out, rec)
		}
	}
	return out, nil
}

// rows describes records, several at once, since a shared volume takes its time for each.
func (s *Section) rows(records []job.Record) []Row {
	out := make([]Row, len(records))
	together(len(records), func(i int) { out[i] = s.row(records[i]) })
	return out
}

// together calls do for 0 to n-1, a few at once.
func together(n int, do func(i int)) {
	var wg sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for i := range n {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			do(i)
		})
	}
	wg.Wait()
}

// encodeCursor writes the place after which a page begins. It is a text without a promise, so that it can change.
func encodeCursor(at job.Position) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %s", at.Created.UnixNano(), at.Run))
}

func decodeCursor(cursor string) (job.Position, error) {
	if cursor == "" {
		return job.Position{}, nil
	}
	doc, err := base64.RawURLEncoding.DecodeString(cursor)
	created, run, ok := strings.Cut(string(doc), " ")
	nanos, wrong := strconv.ParseInt(created, 10, 64)
	if err != nil || wrong != nil || !ok || run == "" || len(run) > maxRunName {
		return job.Position{}, &web.Problem{
			Type: "cursor", Title: "Unknown page", Status: http.StatusBadRequest, Detail: "This page of the list does not exist.", Do: "Begin with the first page again.",
		}
	}
	return job.Position{Created: time.Unix(0, nanos).UTC(), Run: run}, nil
}

// maxRunName is longer than the name of any run.
const maxRunName = 100

// tally counts the runs of a page by their states: "12 runs: 1 running, 9 done, 2 failed".
func (l List) tally() string {
	counts := map[string]int{}
	for _, row := range l.Runs {
		counts[row.State.Name]++
	}
	var parts []string
	for _, name := range StateNames() {
		if counts[name] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[name], name))
		}
	}
	words := text.Count(len(l.Runs), "run")
	if l.Next != "" {
		words = "The newest " + words
	}
	if len(parts) == 0 {
		return words
	}
	return words + ": " + strings.Join(parts, ", ")
}
