package runs

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	clowderray "github.com/ncsa/clowder-ray"
	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

const (
	alice = "alice@example.org" // owner
	bob   = "bob@example.org"   // uploader
	carol = "carol@example.org" // viewer
	dave  = "dave@example.org"  // no role
)

// noon is when the runs of these tests were made.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

type noAssets struct{ http.Handler }

func (noAssets) Names(string) (script, style string) { return "", "" }

// fixture is a fixture whose surroundings are kept in memory. Its time stands still until it passes.
type fixture struct {
	*Section
	t      *testing.T
	volume string
	time   time.Time
	// records are the oldest first; read counts the lists of them, and broken is the error of each look at them.
	stored []job.Record
	read   int
	broken error
	// roles are by dataset and person; lost is the error of each look at them.
	roles map[string]clowder.Role
	lost  error
	// named are the datasets of Clowder; asked counts the questions for them, and down is the answer to all questions.
	named map[string]knownName
	asked atomic.Int32
	down  error
	// submitted is what was sent to Clowder, in words.
	submitted []string
	outage    time.Time
	champions map[string]int
	wrong     error
	commands  []string
}

// newFixture returns a section with the dataset ds1 of alice.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		t: t, volume: t.TempDir(), time: noon, champions: map[string]int{}, named: map[string]knownName{"ds1": {name: "Film reviews", creator: alice}},
		roles: map[string]clowder.Role{"ds1 " + alice: clowder.RoleOwner, "ds1 " + bob: clowder.RoleUploader, "ds1 " + carol: clowder.RoleViewer},
	}
	address, err := url.Parse("https://ray.example.org/studio")
	require.NoError(t, err)
	site := web.NewSite(address, "https://clowder.example.org", noAssets{http.NotFoundHandler()}, zap.NewNop())
	site.Outage = func() time.Time { return f.outage }
	f.Section = New(site, Parts{
		Records: records{f}, Volume: shared{f}, Rights: rights{f}, Clowder: platform{f}, Commands: commands{f}, Forms: forms(t), Settings: checks{f},
		Ours: func(rec job.Record) bool { return rec.Request.Host == "" }, Version: "1.0.0", RunOf: func(extractor, job string) string { return "ft-" + extractor + "-" + job },
		Champion: func(dataset, name string) (int, string) {
			n := f.champions[dataset+" "+name]
			return n, fmt.Sprintf("ft-champion-%d", n)
		},
	})
	f.now = func() time.Time { return f.time }
	f.folders.now = f.now
	return f
}

// forms are the extractors of the product.
func forms(t *testing.T) Forms {
	t.Helper()
	all := Forms{
		{Kind: KindTrain, Noun: "training", Keeps: "the best model so far"},
		{Kind: KindTrain, Noun: "training", Keeps: "the best model so far"},
		{Kind: KindPredict, Noun: "prediction"},
		{Kind: KindScript, Noun: "script", Keeps: "what it has saved"},
		{Kind: KindRuns, Noun: "request"},
	}
	for i, doc := range [][]byte{clowderray.ExtractorInfo, clowderray.AdvancedInfo, clowderray.PredictInfo, clowderray.ScriptInfo, clowderray.RunsInfo} {
		info, err := form.Parse(doc)
		require.NoError(t, err)
		all[i].Info, all[i].Name = info, info.Name
	}
	return all
}

// as is the context of a request of a person.
func (f *fixture) as(person string) context.Context {
	return web.WithVisitor(f.t.Context(), &web.Visitor{Email: person, Session: "login of " + person})
}

func (f *fixture) pass(d time.Duration) { f.time = f.time.Add(d) }

func (f *fixture) rename(dataset, name, creator string) {
	f.named[dataset] = knownName{name: name, creator: creator}
}

// add adds a run of alice on ds1, a second younger than the one before.
func (f *fixture) add(run string, change ...func(*job.Record)) job.Record {
	rec := job.Record{Run: run, State: job.Done, Attempt: 1, User: alice, Request: job.Request{DatasetID: "ds1", Name: "Film reviews", Extractor: "ncsa.ray.finetune", JobID: "job-" + run}}
	for _, c := range change {
		c(&rec)
	}
	rec.Created = noon.Add(time.Duration(len(f.stored)) * time.Second)
	rec.Updated = rec.Created.Add(time.Minute)
	f.stored = append(f.stored, rec)
	return rec
}

// in sets the state of a run.
func in(state job.State) func(*job.Record) { return func(rec *job.Record) { rec.State = state } }

// by sets the user of a run, and on its dataset.
func by(person string) func(*job.Record) { return func(rec *job.Record) { rec.User = person } }

func on(dataset string) func(*job.Record) {
	return func(rec *job.Record) { rec.Request.DatasetID = dataset }
}

// to sets the extractor of a run.
func to(extractor string) func(*job.Record) {
	return func(rec *job.Record) { rec.Request.Extractor = extractor }
}

// folder makes the folder of a run.
func (f *fixture) folder(run string) disk.Folder {
	dir := disk.Folder{Volume: f.volume, Name: run}
	require.NoError(f.t, os.MkdirAll(dir.Path(), 0o700))
	return dir
}

// problem is the problem that an error is to a visitor.
func problem(t *testing.T, err error) *web.Problem {
	t.Helper()
	require.Error(t, err)
	return web.AsProblem(err)
}

// records are those of a section.
type records struct{ *fixture }

func (r records) Get(_ context.Context, run string) (job.Record, error) {
	if r.broken != nil {
		return job.Record{}, r.broken
	}
	for _, rec := range r.stored {
		if rec.Run == run {
			return rec, nil
		}
	}
	return job.Record{}, job.ErrNotFound
}

func (r records) List(_ context.Context, q job.Query) (out []job.Record, err error) {
	r.read++
	for _, rec := range r.stored {
		at := cmp.Or(rec.Created.Compare(q.Before.Created), strings.Compare(rec.Run, q.Before.Run))
		switch {
		case q.Active && !rec.Active(), q.Over && rec.Active(), q.Dataset != "" && q.Dataset != rec.Request.DatasetID, q.User != "" && q.User != rec.User, q.Before.Run != "" && at >= 0:
			continue
		}
		out = append(out, rec)
	}
	if q.Limit > 0 {
		out = out[max(0, len(out)-q.Limit):]
	}
	return slices.Clone(out), r.broken
}

type shared struct{ *fixture }

func (s shared) Run(run string) disk.Folder { return disk.Folder{Volume: s.volume, Name: run} }

func (shared) ReadInputs(job.Record) ([]job.Input, error) { return nil, nil }

type rights struct{ *fixture }

func (r rights) Role(_ context.Context, v *web.Visitor, dataset string) (clowder.Role, error) {
	return r.roles[dataset+" "+v.Email], r.lost
}

type platform struct{ *fixture }

func (p platform) Dataset(_ context.Context, _ *web.Visitor, id string) (name, creator string, err error) {
	p.asked.Add(1)
	known, ok := p.named[id]
	if !ok {
		err = clowder.NewAnswerError(http.StatusNotFound, "there is no such dataset")
	}
	return known.name, known.creator, cmp.Or(p.down, err)
}

func (p platform) Files(context.Context, *web.Visitor, string) ([]DatasetFile, error) {
	return []DatasetFile{{ID: "0123456789abcdef01234567", Name: "finetune.yaml"}}, p.down
}

func (p platform) Submit(_ context.Context, v *web.Visitor, dataset, extractor string, parameters map[string]any) (string, error) {
	if p.down != nil {
		return "", p.down
	}
	p.submitted = append(p.submitted, fmt.Sprint(v.Email, " ", dataset, " ", extractor, " ", parameters))
	return strconv.Itoa(len(p.submitted)), nil
}

type commands struct{ *fixture }

func (d commands) Cancel(_ context.Context, run, person string) error {
	return d.command("cancel", run, person)
}

func (d commands) Stop(_ context.Context, run, person string) error {
	return d.command("stop", run, person)
}

func (d commands) command(what, run, person string) error {
	d.commands = append(d.commands, person+" "+what+" "+run)
	return nil
}

type checks struct{ *fixture }

func (c checks) Check(context.Context, string, string) error { return c.wrong }
