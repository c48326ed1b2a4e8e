package pipeline

import (
	"fmt"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
)

const (
	// maxSteps bounds the steps under way, whatever they do; it is more than all stages have room for.
	maxSteps = 256
	// maxSubmits and maxBuilds bound the jobs that are being given to Ray and those whose results are verified and built.
	maxSubmits = 16
	maxBuilds  = 4
	// maxLooks bounds the looks under way, so that a Ray that does not answer keeps no download and no upload waiting.
	maxLooks = 64
	// looksPerSecond bounds the looks at jobs on Ray. With thousands of jobs each of them is looked at less often.
	looksPerSecond = 500
)

// The pauses after which a job that waits looks how long the line still is. The farther behind, the longer: nobody reads of
// ten thousand places every half minute.
const (
	placeLook    = placeNews
	placeLookMax = 10 * time.Minute
)

// gate makes a gate of the pipeline; what it is that jobs wait for is told to users, unless it is empty.
func (p *Pipeline) gate(what string, places, each int) *gate {
	g := newGate(places, each, p.schedule.touch)
	g.what = what
	p.gates = append(p.gates, g)
	return g
}

// enter asks for what a stage needs: a place on Ray, room in the stage. A job that has to wait is called, and comes back now
// and then to tell its place; at all other gates it waits no longer.
func (p *Pipeline) enter(rec job.Record, st stage) (wait time.Duration, ok bool) {
	for _, g := range p.gates {
		if g != st.slots && (g != p.places || !usesRay(rec)) {
			g.leave(rec.Run)
		}
	}
	defer func() { p.metrics.room(p.places.size()) }()
	if rec.State != job.Staged && usesRay(rec) {
		p.places.seat(rec.Run, rec.Owner) // whoever has put it there
	}
	if st.onRay && !p.places.enter(rec.Run, rec.Owner, rec.Created) {
		return p.wait(rec, p.places), false
	}
	if st.slots != nil && !st.slots.enter(rec.Run, rec.Owner, rec.Created) {
		return p.wait(rec, st.slots), false
	}
	return 0, true
}

// usesRay reports whether a job keeps its place on Ray: until its attempt has ended, and from one attempt to the next.
func usesRay(rec job.Record) bool {
	switch rec.State {
	case job.Submitted, job.Running:
		return true
	case job.Staged:
		return rec.Ending == nil && rec.CancelledBy == ""
	default:
		return false
	}
}

// wait tells a job's user of its place where that is new, and says when to look again.
func (p *Pipeline) wait(rec job.Record, g *gate) time.Duration {
	t, news := g.news(rec.Run, time.Now())
	if news && g.what != "" {
		p.doing(rec, t.sentence(g.what, g.each))
	}
	return min(placeLook+time.Duration(t.before)*time.Second, placeLookMax)
}

// sentence says the place as the user reads it.
func (t turn) sentence(what string, each int) string {
	switch {
	case t.own && t.before == 0:
		return fmt.Sprintf("Waiting until one of your jobs ends: %s of a user at a time", count(each, "job"))
	case t.own:
		return fmt.Sprintf("Waiting until some of your jobs end: %s of a user at a time, and %s before this one",
			count(each, "job"), count(t.before, "other"))
	case t.before == 0:
		return "Waiting for " + what + ": this job is the next"
	default:
		return fmt.Sprintf("Waiting for %s: %s before yours", what, count(t.before, "job"))
	}
}

// pace is the shortest time between two looks at a job on Ray.
func (p *Pipeline) pace() time.Duration {
	inside, _ := p.places.size()
	return time.Duration(inside) * time.Second / looksPerSecond
}
