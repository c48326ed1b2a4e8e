package live

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
)

const run = "ft-one"

// fixture is one run of the service: its record and its folder.
type fixture struct {
	dir string

	mu      sync.Mutex
	rec     job.Record
	waiting string
	gone    bool
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	w := &fixture{dir: tb.TempDir(), rec: job.Record{Run: run, State: job.Running, Attempt: 1}}
	require.NoError(tb, os.MkdirAll(filepath.Join(w.dir, run), 0o755))
	return w
}

func (f *fixture) Get(context.Context, string) (job.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone {
		return job.Record{}, job.ErrNotFound
	}
	return f.rec, nil
}

func (f *fixture) Folder(run string) disk.Folder { return disk.Folder{Volume: f.dir, Name: run} }

func (f *fixture) LastStatus(string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waiting
}

func (f *fixture) change(fn func(*job.Record)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fn(&f.rec)
}

func (f *fixture) end(state job.State, text string) {
	f.change(func(rec *job.Record) { rec.State, rec.Ending = state, &job.Ending{State: state, Text: text} })
}

// write appends to a file of the run.
func (f *fixture) write(tb testing.TB, name, text string) {
	tb.Helper()
	file, err := os.OpenFile(filepath.Join(f.dir, run, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(tb, err)
	_, err = file.WriteString(text)
	require.NoError(tb, err)
	require.NoError(tb, file.Close())
}

func (f *fixture) tell(tb testing.TB, events ...string) {
	tb.Helper()
	f.write(tb, results.EventsFile, strings.Join(events, "\n")+"\n")
}

// progress is an event after some steps of 10,000.
func progress(step int, loss float64) string {
	return fmt.Sprintf(`{"time":"2026-11-21T05:03:51Z","attempt":1,"kind":"progress","epoch":1,"epochs":2,"step":%d,"steps":10000,"fraction":%g,"loss":%g}`, step, float64(step)/10000, loss)
}

func validation(step int, accuracy float64) string {
	return fmt.Sprintf(`{"time":"2026-11-21T05:03:52Z","attempt":1,"kind":"eval","epoch":%g,"step":%d,"split":"validation","metrics":{"loss":0.5,"accuracy":%g}}`, float64(step)/5000, step, accuracy)
}

const training = `{"time":"2026-11-21T05:03:49Z","attempt":1,"kind":"phase","phase":"train","text":"Training on 1080 rows."}`

func newHub(tb testing.TB, f *fixture) *Hub {
	tb.Helper()
	h := NewHub(f, zap.NewNop())
	tb.Cleanup(h.Close)
	return h
}

// got is a message as a browser reads it.
type got struct {
	kind, data string
	id         int64 // -1 for none
}

// browser is a client of a stream: what it was told, and the points that it would draw.
type browser struct {
	messages []got
	last     int64
	points   map[string][]float64 // the values of each line
	state    JobState
	said     Progress
	log      string
}

func newBrowser() *browser { return &browser{last: -1, points: map[string][]float64{}} }

// read takes messages as they come over the line.
func (b *browser) read(tb testing.TB, frames ...[]byte) {
	tb.Helper()
	for text := range strings.SplitSeq(string(bytes.Join(frames, nil)), "\n\n") {
		m := got{id: -1}
		for line := range strings.Lines(text) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "id":
				id, err := strconv.ParseInt(value, 10, 64)
				require.NoError(tb, err)
				m.id = id
			case "event":
				m.kind = value
			case "data":
				m.data = value
			}
		}
		if m.kind != "" {
			b.take(tb, m)
		}
	}
}

func (b *browser) take(tb testing.TB, m got) {
	tb.Helper()
	b.messages = append(b.messages, m)
	if m.id >= 0 {
		b.last = m.id
	}
	decode := func(into any) { require.NoError(tb, json.Unmarshal([]byte(m.data), into), m.data) }
	switch m.kind {
	case kindSnapshot:
		var s struct {
			State JobState
			Said  Progress
			Lines []struct {
				Name   string
				Points [][2]float64
			}
			Log *Printed
		}
		decode(&s)
		b.state, b.said, b.points, b.log = s.State, s.Said, map[string][]float64{}, ""
		for _, line := range s.Lines {
			for _, p := range line.Points {
				b.points[line.Name] = append(b.points[line.Name], p[1])
			}
		}
		if s.Log != nil {
			b.log = s.Log.Text
		}
	case kindEvent:
		var e struct{ Points [][2]json.RawMessage }
		decode(&e)
		for _, p := range e.Points {
			var name string
			var xy [2]float64
			require.NoError(tb, json.Unmarshal(p[0], &name))
			require.NoError(tb, json.Unmarshal(p[1], &xy))
			b.points[name] = append(b.points[name], xy[1])
		}
	case kindState:
		decode(&b.state)
	case kindProgress:
		b.said = Progress{}
		decode(&b.said)
	case kindLog:
		var l Printed
		decode(&l)
		if l.From {
			b.log = ""
		}
		b.log += l.Text
	}
}

// kinds are the kinds of the messages so far.
func (b *browser) kinds() []string {
	var out []string
	for _, m := range b.messages {
		out = append(out, m.kind)
	}
	return out
}

// listen reads what a viewer gets until nothing comes for some looks.
func (b *browser) listen(tb testing.TB, v *Viewer) error {
	tb.Helper()
	quiet, cancel := context.WithTimeout(tb.Context(), 3*look)
	defer cancel()
	for {
		frames, err := v.Next(quiet, nil)
		if err != nil {
			return err
		}
		b.read(tb, frames...)
	}
}
