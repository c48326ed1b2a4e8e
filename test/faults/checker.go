package faults

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
)

// Rule is one of the promises.
type Rule string

// The promises that Check looks after.
const (
	Lost         Rule = "lost"         // a job that never ends, or a result that is not there
	Doubled      Rule = "doubled"      // an effect that happened twice
	Invented     Rule = "invented"     // an effect that nobody asked for
	Torn         Rule = "torn"         // other bytes than those that were made
	Backwards    Rule = "backwards"    // a job that went back to an earlier state
	Contradicted Rule = "contradicted" // a last word that is not the last, or not true
	Leaked       Rule = "leaked"       // a key that shows, or something that was not given back
)

// Violation is one broken promise.
type Violation struct {
	Rule Rule
	Text string
}

func (v Violation) String() string { return string(v.Rule) + ": " + v.Text }

// Check returns every broken promise in a history.
func Check(h History) []Violation {
	c := checker{h: h, sent: map[string]bool{}, runs: map[string]job.Record{}}
	for _, s := range h.Sent {
		c.sent[s.JobID] = true
	}
	for _, r := range h.Records {
		c.runs[r.Run] = r
	}
	c.checkJobs()
	c.checkRecords()
	c.checkTrail()
	c.checkTrainings()
	c.checkFiles()
	c.checkNotes()
	c.checkLeaks()
	return c.found
}

// checker is one reading of a history.
type checker struct {
	h     History
	sent  map[string]bool
	runs  map[string]job.Record
	found []Violation
}

func (c *checker) report(rule Rule, format string, args ...any) {
	c.found = append(c.found, Violation{rule, fmt.Sprintf(format, args...)})
}

// checkJobs looks at each job as its user does: one last word, and nothing after it.
func (c *checker) checkJobs() {
	heard := map[string][]Status{}
	for _, s := range c.h.Statuses {
		heard[s.JobID] = append(heard[s.JobID], s)
	}
	for id := range heard {
		if !c.sent[id] {
			c.report(Invented, "statuses of job %q, which nobody submitted", id)
		}
	}
	for _, s := range c.h.Sent {
		c.checkJob(s, heard[s.JobID])
	}
}

func (c *checker) checkJob(sent Sent, heard []Status) {
	end := slices.IndexFunc(heard, Status.terminal)
	if end < 0 {
		if sent.Confirmed && !slices.Contains(c.h.Waiting, sent.JobID) {
			c.report(Lost, "job %s has no end, and its message waits nowhere", sent.JobID)
		}
		return
	}
	for _, s := range heard[end+1:] {
		if s == heard[end] {
			c.report(Doubled, "job %s was told its end twice: %s", s.JobID, s.Text)
		} else {
			c.report(Contradicted, "job %s was told %s %q after its end %s %q", s.JobID, s.Kind, s.Text, heard[end].Kind, heard[end].Text)
		}
	}
	c.checkEnd(heard[end])
}

// checkEnd compares the last status with the store. At least one of the records of the job (a request, and the run that it
// started again) must agree.
func (c *checker) checkEnd(end Status) {
	var states []job.State
	for _, r := range c.h.Records {
		if r.Request.JobID == end.JobID {
			states = append(states, r.State)
		}
	}
	if len(states) > 0 && !slices.ContainsFunc(states, func(s job.State) bool { return word(s) == end.Kind }) {
		c.report(Contradicted, "job %s was told %s, but the store says %v", end.JobID, end.Kind, states)
	}
}

// word is what Clowder is told of a state.
func word(s job.State) string {
	switch s {
	case job.Done:
		return "SUCCEEDED"
	case job.Failed, job.Cancelled: // Clowder knows no cancelled jobs
		return "ERROR"
	case job.Skipped:
		return "SKIPPED"
	default:
		return "PROCESSING"
	}
}

func (c *checker) checkRecords() {
	for _, r := range c.h.Records {
		if !c.sent[r.Request.JobID] {
			c.report(Invented, "run %s of job %q, which nobody submitted", r.Run, r.Request.JobID)
		}
		if r.Active() {
			c.report(Lost, "run %s stays %s: %s", r.Run, r.State, r.LastError)
		}
	}
}

// checkTrail looks for steps back: attempts only grow, and so does the state within one.
func (c *checker) checkTrail() {
	last := map[string]Step{}
	for _, s := range c.h.Trail {
		old, known := last[s.Run]
		last[s.Run] = s
		back := s.Attempt < old.Attempt || s.Attempt == old.Attempt && rank(s.State) < rank(old.State)
		after := s.Attempt == old.Attempt && old.State.Terminal() && s.State != old.State
		if known && (back || after) {
			c.report(Backwards, "run %s went from %s (attempt %d) to %s (attempt %d)", s.Run, old.State, old.Attempt, s.State, s.Attempt)
		}
	}
}

// rank orders the states; those that end a job share the last one.
func rank(s job.State) int {
	if s.Terminal() {
		s = job.Done
	}
	return slices.Index(job.States(), s)
}

func (c *checker) checkTrainings() {
	started := map[string]bool{}
	for _, attempt := range c.h.Trainings {
		if started[attempt] {
			c.report(Doubled, "attempt %s was trained twice", attempt)
		}
		started[attempt] = true
		if _, known := c.runs[attempt[:max(0, strings.LastIndex(attempt, "-a"))]]; !known {
			c.report(Invented, "attempt %s of a run that the store does not know", attempt)
		}
	}
}

// checkFiles compares what Clowder holds with the ledgers: each entry once, with its bytes, and nothing else.
func (c *checker) checkFiles() {
	held := map[string]File{}
	for _, f := range c.h.Files {
		key := f.Dataset + "/" + f.Path
		if _, twice := held[key]; twice {
			c.report(Doubled, "file %s is there twice", f.Path)
		}
		held[key] = f
		switch _, known := c.runs[f.Run]; {
		case !known:
			c.report(Invented, "file %s is of no run", f.Path)
		case f.Unfinished:
			c.report(Torn, "file %s is listed without a body", f.Path)
		}
	}
	for _, r := range c.h.Records {
		c.checkDelivery(r)
	}
}

func (c *checker) checkDelivery(r job.Record) {
	var ledger []delivery.Entry
	if len(r.Ledger) == 0 {
		return
	}
	if err := json.Unmarshal(r.Ledger, &ledger); err != nil {
		c.report(Torn, "the ledger of run %s: %v", r.Run, err)
		return
	}
	for _, entry := range ledger {
		if entry.Kind != delivery.KindFile || entry.State != delivery.StateDone {
			continue
		}
		i := slices.IndexFunc(c.h.Files, func(f File) bool { return f.Run == r.Run && strings.HasSuffix("/"+f.Path, "/"+path.Clean(entry.Name)) })
		switch {
		case i < 0:
			c.report(Lost, "%s of run %s is delivered, but Clowder does not have it", entry.Name, r.Run)
		case !c.h.Files[i].Unfinished && c.h.Files[i].SHA256 != entry.SHA256:
			c.report(Torn, "%s of run %s has other bytes than those that were made", entry.Name, r.Run)
		}
	}
}

func (c *checker) checkNotes() {
	seen := map[Note]bool{}
	for _, n := range c.h.Notes {
		if seen[n] {
			c.report(Doubled, "metadata of run %s is there twice", n.Run)
		}
		seen[n] = true
		if _, known := c.runs[n.Run]; !known {
			c.report(Invented, "metadata of run %q, which the store does not know", n.Run)
		}
	}
}

func (c *checker) checkLeaks() {
	for name, text := range c.h.Texts {
		if strings.Contains(text, clowdertest.JobKeyMark) {
			c.report(Leaked, "the key of a user is in %s", name)
		}
	}
	for _, g := range c.h.Gauges {
		if g.After > g.Before+g.Slack {
			c.report(Leaked, "%s grew from %g to %g", g.Name, g.Before, g.After)
		}
	}
}
