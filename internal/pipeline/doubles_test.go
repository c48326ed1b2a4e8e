package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder/ability"
	"github.com/ncsa/clowder-ray/internal/clowder/connect"
	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// fakeRay starts an attempt by writing what the trainer would write. Its script decides how attempts end.
type fakeRay struct {
	volume volume.Volume

	mu       sync.Mutex
	jobs     map[string]rayjob.Verdict
	submits  []string
	reads    [][]string // of each submission
	attempts []rayjob.Attempt
	released []string
	observed int
	maxAge   time.Duration // of the newest look
	// script returns the verdict of the attempt at each look; the default succeeds at the third.
	script func(a string, look int) rayjob.Observation
	// failure, where set, is what the trainer leaves as error.json.
	failure *results.Failure
	// scriptFails says that a script leaves what it had saved before it failed.
	scriptFails bool
	// silent trainings leave nothing behind.
	silent bool
	// refuse is returned by Submit as long as it is set.
	refuse error
}

var _ rayjob.Backend = (*fakeRay)(nil)

func (f *fakeRay) Submit(_ context.Context, a rayjob.Attempt) (rayjob.Handle, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuse != nil {
		return rayjob.Handle{}, f.refuse
	}
	if err := a.Check(); err != nil {
		return rayjob.Handle{}, err
	}
	h := rayjob.Handle{Backend: "fake", ID: a.Name()}
	if _, known := f.jobs[h.ID]; known {
		return h, nil
	}
	f.jobs[h.ID] = rayjob.Running
	f.submits, f.reads = append(f.submits, h.ID), append(f.reads, a.Reads)
	f.attempts = append(f.attempts, a)
	dir := f.volume.Run(a.Run).Path()
	if f.silent {
		return h, nil
	}
	if f.failure != nil {
		failure := *f.failure
		failure.Schema, failure.Run, failure.Attempt = 1, a.Run, a.Number
		return h, f.volume.WriteJSON(a.Run, "error.json", failure)
	}
	if a.Script {
		return h, resultstest.PlayScript(dir, a.Run, a.Number, f.scriptFails)
	}
	return h, resultstest.Play(dir, a.Run, a.Number)
}

func (f *fakeRay) Observe(_ context.Context, h rayjob.Handle, maxAge time.Duration) (rayjob.Observation, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.observed++
	f.maxAge = maxAge
	if f.script != nil {
		return f.script(h.ID, f.observed), nil
	}
	if f.observed < 3 {
		return rayjob.Observation{Verdict: rayjob.Running}, nil
	}
	return rayjob.Observation{Verdict: rayjob.Succeeded}, nil
}

func (f *fakeRay) Stop(context.Context, rayjob.Handle) error { return nil }

func (f *fakeRay) Logs(context.Context, rayjob.Handle, io.Writer) error { return nil }

func (f *fakeRay) Release(_ context.Context, h rayjob.Handle) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.released = append(f.released, h.ID)
	return nil
}

// fakePlatform stages one file and remembers what was delivered.
type fakePlatform struct {
	mu        sync.Mutex
	stage     func() error
	delivered []string
	known     platform.Known
	looks     int
	turns     int              // of StageMany that end before it does
	notes     []map[string]any // what Note added
	last      platform.Delivery
	// refuse is returned by Deliver once for each of its errors.
	refuse []error
	// readable are the datasets that the user may read.
	readable string
	// late are files of the dataset that are not staged.
	late []job.NotRead
	// files are staged besides train.csv.
	files map[string]string
	// address is that of the Clowder of all jobs, or empty for none, and configured the setting with it.
	address, configured string
	// newsOf are the automatic runs that asked for their files; noNews, where set, is why they have none.
	newsOf []string
	noNews string
	// labelsFrom is the metadata that the newest training has asked for.
	labelsFrom string
	// noLabels is the error of Label.
	noLabels error
	// senders are who sent the jobs about single files, by run; a person where it has none.
	senders map[string]job.Sender
	// denied says that the user may not decide over other jobs.
	denied bool
}

var _ platform.Platform = (*fakePlatform)(nil)

// StageMany adds nothing, at the turn after f.turns others.
func (f *fakePlatform) StageMany(_ context.Context, _ job.Record, own []job.Input, room platform.Room, say platform.Say) ([]job.Input, []job.NotRead, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.turns--; f.turns >= 0 {
		say.Passing("a turn")
		room.Kept.Part = io.NopCloser(nil)
		return nil, nil, job.Later(time.Millisecond, errors.New("others take their turn"))
	}
	return own, nil, nil
}

func (f *fakePlatform) Stage(_ context.Context, _ job.Record, dir disk.Folder, _ platform.Say) ([]job.Input, []job.NotRead, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stage != nil {
		if err := f.stage(); err != nil {
			return nil, nil, err
		}
	}
	root, err := dir.Make()
	if err != nil {
		return nil, nil, err
	}
	inputs := []job.Input{{Name: "train.csv", Path: "train.csv", Size: 3, SHA256: fmt.Sprintf("%064d", 0)}}
	err = disk.WriteFile(root, "train.csv", []byte("a,b"))
	for name, body := range f.files {
		inputs = append(inputs, job.Input{Name: name, Path: name, Size: int64(len(body)), SHA256: fmt.Sprintf("%064d", 0)})
		err = errors.Join(err, root.MkdirAll(path.Dir(name), 0o755), disk.WriteFile(root, name, []byte(body)))
	}
	return inputs, f.late, errors.Join(err, root.Close())
}

func (f *fakePlatform) Label(_ context.Context, rec job.Record, inputs []job.Input, _ func(string)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.labelsFrom = rec.Settings.LabelFrom
	if f.labelsFrom != "" && f.noLabels == nil {
		inputs[0].Label = "wren"
	}
	return f.noLabels
}

func (f *fakePlatform) News(_ context.Context, rec job.Record, _ disk.Folder) ([]job.Announced, string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.newsOf = append(f.newsOf, rec.Run)
	if f.noNews != "" {
		return nil, f.noNews, nil
	}
	return rec.Request.Announced, "", nil
}

func (f *fakePlatform) Sender(_ context.Context, rec job.Record) (job.Sender, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return cmp.Or(f.senders[rec.Run], job.Person), nil
}

func (f *fakePlatform) Address(job.Record) (string, error) { return f.address, nil }

func (f *fakePlatform) Abilities(req job.Request) ability.Set { return versions.Of(req.APIVersion).Set }

func (f *fakePlatform) Origin(req job.Request) (configured, named string) {
	return f.configured, connect.Address(req.Host)
}

func (f *fakePlatform) User(context.Context, job.Record) (string, error) {
	return "alice@example.org", nil
}

func (f *fakePlatform) MayRead(_ context.Context, _ job.Record, dataset string) (bool, error) {
	return strings.Contains(f.readable, dataset), nil
}

func (f *fakePlatform) CanManage(context.Context, job.Record, job.Record) (string, error) {
	if f.denied {
		return "", job.Permanent(errors.New("it was started by bob"))
	}
	return "alice", nil
}

func (f *fakePlatform) Plan(job.Record, platform.Delivery) (json.RawMessage, error) {
	return json.RawMessage(`[]`), nil
}

func (f *fakePlatform) Deliver(_ context.Context, rec job.Record, d platform.Delivery, l platform.LedgerFile, _ func(string)) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.delivered, f.last = append(f.delivered, rec.Run), d
	if len(f.refuse) > 0 {
		err := f.refuse[0]
		f.refuse = f.refuse[1:]
		return "", err
	}
	if len(d.Artifacts) == 0 {
		return "", job.Permanent(errors.New("nothing to deliver"))
	}
	return "Results in folder x", l.Save(json.RawMessage(`[]`))
}

func (f *fakePlatform) Note(_ context.Context, _ job.Record, content map[string]any, l platform.LedgerFile) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notes = append(f.notes, content)
	return l.Save(json.RawMessage(`[]`))
}

func (f *fakePlatform) Known(context.Context, job.Record) (platform.Known, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks++
	return f.known, nil
}

// fakePublisher remembers the statuses of each job.
type fakePublisher struct {
	mu   sync.Mutex
	sent map[string][]message.Status
	last job.Request
	// hook, if set, is called first; its error is the one of the call.
	hook func(ctx context.Context, s message.Status) error
}

func (f *fakePublisher) Publish(ctx context.Context, req job.Request, s message.Status) error {
	if f.hook != nil {
		if err := f.hook(ctx, s); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sent == nil {
		f.sent = map[string][]message.Status{}
	}
	run := strings.TrimPrefix(req.Key, "key-of-")
	f.sent[run], f.last = append(f.sent[run], s), req
	return nil
}

func (f *fakePublisher) of(run string) []message.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.sent[run])
}

func (f *fakePublisher) kinds(run string) (out []message.StatusKind) {
	for _, s := range f.of(run) {
		out = append(out, s.Kind)
	}
	return slices.Compact(out)
}
