package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// maxNews and maxNewsBytes bound the messages that are kept for viewers that are behind. Who is further behind gets a snapshot.
	maxNews      = 2000
	maxNewsBytes = 1 << 20
	// maxEventsAtOnce is how many events of one look are sent one by one. With more, all viewers get a snapshot.
	maxEventsAtOnce = 500
	// readsAtOnce bounds how much of a log one look reads, in megabytes, after the first.
	readsAtOnce = 4
)

// watch follows one run for all its viewers.
type watch struct {
	run  string
	runs Runs

	// These belong to the goroutine of the watch.
	tail    *results.Tail
	printed printed

	mu sync.Mutex
	// changed is closed when there is something new, and replaced.
	changed  chan struct{}
	looked   bool
	over     bool
	attempt  int
	state    JobState
	progress results.Progress
	waiting  string // the newest sentence of the service, for what the trainer tells nothing about
	curves   curves
	said     Progress
	// news[0] has the number first. A viewer of another generation gets a snapshot.
	news       []message
	bytes      int
	first      uint64
	generation int
	snapshot   []byte // a frame, nil where it is no longer true
	after      int64
	logEnd     string
}

func newWatch(run string, runs Runs) *watch {
	return &watch{run: run, runs: runs, tail: results.NewTail(runs.Folder(run)), changed: make(chan struct{})}
}

// look reads what is new about the run. An error leaves what is known as it is; the next look tries again.
func (w *watch) look(ctx context.Context) error {
	before := w.tail.Offset
	events, readErr := w.read()
	log, printed, logErr := w.printed.next(w.runs.Folder(w.run))
	rec, err := w.runs.Get(ctx, w.run) // after the events: none of them is of an attempt that it does not know
	if err != nil && !errors.Is(err, job.ErrNotFound) {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if errors.Is(err, job.ErrNotFound) {
		w.state.Over = true
	} else {
		w.update(rec)
	}
	if w.tail.Offset < before { // another log
		w.progress, w.curves = results.Progress{}, curves{}
		w.restart()
	}
	w.fold(events)
	if printed {
		w.logEnd = w.printed.end
		w.tell(frame(kindLog, -1, log))
	}
	if said := w.sayNow(); !sameProgress(said, w.said) {
		w.said = said
		w.tell(frame(kindProgress, -1, said))
	}
	w.looked, w.over = true, w.state.Over
	close(w.changed)
	w.changed = make(chan struct{})
	return errors.Join(readErr, logErr)
}

// read returns the new events, at the first look all that there are.
func (w *watch) read() ([]results.LoggedEvent, error) {
	var all []results.LoggedEvent
	for n := 0; w.tail.Offset == 0 || !w.looked || n < readsAtOnce; n++ {
		offset := w.tail.Offset
		events, err := w.tail.NextLogged()
		if err != nil || w.tail.Offset <= offset {
			return append(all, events...), err
		}
		all = append(all, events...)
	}
	return all, nil
}

// update takes the record of the run into account.
func (w *watch) update(rec job.Record) {
	state := JobState{
		Standing: rec.Standing(),
		State:    string(rec.State), Attempt: rec.Attempt, Stopping: rec.StoppedBy != "", Cancelling: rec.CancelledBy != "", Over: !rec.Active(),
	}
	if rec.Ending != nil {
		state.Ending = rec.Ending.Text
	}
	w.attempt, w.waiting = rec.Attempt, w.runs.LastStatus(w.run)
	if state != w.state {
		w.state = state
		w.tell(frame(kindState, -1, state))
	}
}

// fold takes events into account and tells them, at the first look as many as are kept.
func (w *watch) fold(events []results.LoggedEvent) {
	flood, told := w.looked && len(events) > maxEventsAtOnce, len(events)-maxNews
	for i, e := range events {
		if e.Attempt > w.attempt {
			continue // the service did not start it
		}
		w.progress.Fold(e.Event)
		points := w.curves.add(e.Event)
		if !flood && i >= told {
			w.tell(eventFrame(e, points))
		}
	}
	if w.after != w.tail.Offset {
		w.after, w.snapshot = w.tail.Offset, nil
	}
	if flood {
		w.restart()
	}
}

// tell keeps a message for the viewers.
func (w *watch) tell(m message) {
	w.snapshot = nil
	w.news = append(w.news, m)
	w.bytes += len(m.frame)
	for len(w.news) > maxNews || w.bytes > maxNewsBytes {
		w.bytes -= len(w.news[0].frame)
		w.news[0] = message{}
		w.news = w.news[1:]
		w.first++
	}
}

// restart makes all viewers begin with a snapshot.
func (w *watch) restart() {
	w.first += uint64(len(w.news))
	w.news, w.bytes, w.snapshot = nil, 0, nil
	w.generation++
}

func (w *watch) sayNow() Progress {
	p := &w.progress
	s := Progress{
		Sentence: p.Sentence(), Phase: p.Phase, Fraction: p.Fraction, ETASeconds: p.ETA.Seconds(), Epoch: p.Epoch, Epochs: p.Epochs,
		Resumes: w.curves.resumes,
	}
	switch {
	case w.state.Over:
		s.Sentence = w.state.Ending
	case s.Sentence == "" || w.state.State != string(job.Running):
		s.Sentence = w.waiting
	}
	s.Sentence = text.Capital(s.Sentence)
	s.Metric, _, _ = p.Metric()
	if p.Best != nil {
		s.Metric, s.Best, s.BestEpoch = p.Best.Metric, &p.Best.Value, p.Best.Epoch
	}
	s.described = p.Metrics
	return s
}

func sameProgress(a, b Progress) bool {
	sameBest := a.Best == nil && b.Best == nil || a.Best != nil && b.Best != nil && *a.Best == *b.Best
	sameResumes := slices.Equal(a.Resumes, b.Resumes)
	a.Best, b.Best, a.Resumes, b.Resumes = nil, nil, nil, nil
	return sameBest && sameResumes && fmt.Sprint(a) == fmt.Sprint(b)
}

// take returns the messages from number next on for a viewer of a generation, and where it stands then. over says that nothing follows;
// changed is closed when there is more.
func (w *watch) take(next uint64, generation int) (frames [][]byte, then uint64, now int, changed <-chan struct{}, over bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	then = w.first + uint64(len(w.news))
	if !w.looked {
		return nil, next, generation, w.changed, false
	}
	if generation != w.generation || next < w.first {
		frames = [][]byte{w.snapshotFrame()}
	} else {
		for _, m := range w.news[next-w.first:] {
			frames = append(frames, m.frame)
		}
	}
	return frames, then, w.generation, w.changed, w.over
}

// resume returns where a viewer goes on that knows all events up to an offset, and the messages that it may have missed: none where it needs
// a snapshot. looked is false before the first look.
func (w *watch) resume(after int64) (frames [][]byte, next uint64, generation int, looked bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.looked {
		return nil, 0, 0, false
	}
	next = w.first + uint64(len(w.news))
	if after != w.after {
		i := slices.IndexFunc(w.news, func(m message) bool { return m.end == after })
		if i < 0 {
			return nil, 0, 0, true
		}
		next = w.first + uint64(i) + 1
	}
	frames = [][]byte{frame(kindState, -1, w.state).frame, frame(kindProgress, -1, w.said).frame}
	if w.logEnd != "" {
		frames = append(frames, frame(kindLog, -1, Printed{Text: w.logEnd, From: true}).frame)
	}
	return frames, next, w.generation, true
}

// snapshotFrame is made once for all viewers that come before there is news.
func (w *watch) snapshotFrame() []byte {
	if w.snapshot == nil {
		w.snapshot = frame(kindSnapshot, w.after, w.whole(snapshotPoints)).frame
	}
	return w.snapshot
}

// whole is all that is known, with at most so many points.
func (w *watch) whole(points int) Snapshot {
	s := Snapshot{After: w.after, State: w.state, Progress: w.said, Lines: w.curves.sample(points)}
	if w.logEnd != "" {
		s.Log = &Printed{Text: w.logEnd, From: true}
	}
	return s
}

// follow looks at the run at each tick until ctx ends.
func (w *watch) follow(ctx context.Context, every time.Duration, failed func(error)) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if err := w.look(ctx); err != nil && ctx.Err() == nil {
			failed(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
