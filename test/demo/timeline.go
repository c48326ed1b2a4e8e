package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// warmWait is the longest wait for a warm process: its imports take seconds on free cores.
const warmWait = time.Minute

// awaitWarm waits until the local Ray keeps a warm process, as one that has run for a while does, and says whether it does.
func awaitWarm(ctx context.Context, began time.Time) bool {
	if os.Getenv("WARM_WORKERS") == "0" {
		return false
	}
	pattern := filepath.Join(os.TempDir(), "clowder-ray-warm-"+strconv.Itoa(os.Geteuid()), "*.sock")
	for end := time.Now().Add(warmWait); time.Now().Before(end); {
		sockets, _ := filepath.Glob(pattern) // the pattern is valid
		for _, socket := range sockets {
			info, err := os.Stat(socket)
			if err != nil || info.ModTime().Before(began) {
				continue
			}
			var dialer net.Dialer
			if conn, err := dialer.DialContext(ctx, "unix", socket); err == nil {
				return conn.Close() == nil
			}
		}
		if pause(ctx, 100*time.Millisecond) != nil {
			return false
		}
	}
	return false
}

// timeline says where the time of one run went, from its message to its last status.
type timeline struct {
	began time.Time
	marks []mark
	built bool // it is known when the deliverables were built: one of them was large enough for a file
}

// mark is the end of a part of a run.
type mark struct {
	at          time.Time
	owner, what string
}

// phases are the marks in the events of a run: the part that ends where the phase begins.
var phases = map[string]mark{
	"start":   {owner: "Ray", what: "starts the job and its driver"},
	"prepare": {owner: "trainer", what: "connects to Ray and requests workers, if the model needs any"},
	"train":   {owner: "trainer", what: "reads and encodes the data, while workers start"},
	"test":    {owner: "trainer", what: "trains"},
	"export":  {owner: "trainer", what: "measures the model on data that it has not seen"},
}

// print writes the table of the only run on the volume, whose last status was seen at end.
func (l *timeline) print(w io.Writer, shared string, end time.Time) error {
	runs, err := filepath.Glob(filepath.Join(shared, "runs", "*", "events.jsonl"))
	if err != nil || len(runs) != 1 {
		return errors.Join(err, fmt.Errorf("%d runs are on the volume instead of one", len(runs)))
	}
	folder := filepath.Dir(runs[0])
	if err := l.files(folder); err != nil {
		return err
	}
	if err := l.events(runs[0]); err != nil {
		return err
	}
	last := mark{end, "Clowder", "takes the last files, the visualization, the metadata and the last status"}
	if !l.built {
		last.owner, last.what = "service, Clowder", "the service sees the end and builds the deliverables; Clowder "+last.what
	}
	l.marks = append(l.marks, last)
	slices.SortStableFunc(l.marks, func(a, b mark) int { return a.at.Compare(b.at) })
	_, _ = fmt.Fprintf(w, "\nWhere the time went from the message to the last status:\n\n| seconds | until | owner | what |\n|---|---|---|---|\n")
	before := l.began
	for _, m := range l.marks {
		_, err = fmt.Fprintf(w, "| %5.1f | %5.1f | %s | %s |\n", m.at.Sub(before).Seconds(), m.at.Sub(l.began).Seconds(), m.owner, m.what)
		before = m.at
	}
	return err
}

// files adds the marks that the times of files tell.
func (l *timeline) files(folder string) error {
	deliver := filepath.Join(filepath.Dir(filepath.Dir(folder)), "deliver", filepath.Base(folder))
	for name, m := range map[string]mark{
		"spec.json":   {owner: "service", what: "takes the message, stages the dataset and checks the settings"},
		"result.json": {owner: "trainer", what: "writes model, metrics and predictions"},
	} {
		info, err := os.Stat(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		m.at = info.ModTime()
		l.marks = append(l.marks, m)
	}
	made, _ := filepath.Glob(filepath.Join(deliver, "*")) // the pattern is valid
	times := make([]time.Time, 0, len(made))
	for _, name := range made {
		if info, err := os.Stat(name); err == nil {
			times = append(times, info.ModTime())
		}
	}
	if len(times) > 0 {
		at := slices.MaxFunc(times, func(a, b time.Time) int { return a.Compare(b) })
		l.built = true
		l.marks = append(l.marks, mark{at, "service", "sees the end, verifies the result and builds the deliverables"})
	}
	return nil
}

// events adds the marks that the events of the training tell: its phases, and its first step.
func (l *timeline) events(name string) (err error) {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	seen := map[string]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var event struct {
			Time        time.Time
			Kind, Phase string
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return fmt.Errorf("read the events of the training: %w", err)
		}
		m, known := phases[event.Phase]
		if event.Kind == "progress" {
			m, known = mark{owner: "trainer", what: "prepares the first step"}, true
		}
		if key := cmp.Or(event.Phase, event.Kind); known && !seen[key] {
			seen[key], m.at = true, event.Time
			l.marks = append(l.marks, m)
		}
	}
	return nil
}
