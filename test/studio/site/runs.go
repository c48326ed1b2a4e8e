package site

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// Run is a run to be added to a site. Its zero value is a training that ended well.
type Run struct {
	// ID is the name of the run, Name what its user called it, By its user, and Dataset its dataset; "" are Film reviews and Alice.
	ID, Name, By, Dataset string
	Extractor             string
	// State is how far it is; Text is its last sentence.
	State job.State
	Text  string
	// Accuracy is that of a training that ended well, Rate its learning rate, Version the number of its model; 0 for none.
	Accuracy, Rate float64
	Version        int
	Champion       bool
	// Settings are what its user filled in.
	Settings map[string]any
	// Fraction is how far a running training is.
	Fraction float64
	// Change alters the result of a training that ended well.
	Change func(r *results.Result)
	// Inputs are the files of the dataset that it uses; none: train.csv.
	Inputs []job.Input
	// NoFolder leaves the run folder out.
	NoFolder bool
}

// Add adds a run to the site, with its record and its folder.
func (s *Site) Add(tb testing.TB, r Run) {
	tb.Helper()
	ctx := tb.Context()
	if r.By == "" {
		r.By = Alice
	}
	if r.Dataset == "" {
		r.Dataset = s.Dataset
	}
	if r.Extractor == "" {
		r.Extractor = "ncsa.ray.finetune"
	}
	if r.State == "" {
		r.State = job.Done
	}
	values := map[string]any{"run_name": r.Name}
	maps.Copy(values, r.Settings)
	rec := job.New(r.ID, extractors(tb).Of(job.Request{Extractor: r.Extractor}).Kind, job.Request{
		Key: "job-" + r.ID, JobID: "job-" + r.ID, APIVersion: 2, Host: s.Clowder.URL, Extractor: r.Extractor, Kind: job.Dataset, ResourceID: r.Dataset, DatasetID: r.Dataset,
		Name: "Film reviews", Parameters: values, BodyHash: r.ID, Received: time.Now().UTC(),
	}, job.Secret(s.Clowder.Key(r.By)))
	_, created, err := s.Store.Accept(ctx, rec)
	require.NoError(tb, err)
	require.True(tb, created, "run %s exists", r.ID)
	if !r.NoFolder {
		s.folder(tb, r)
	}
	sum := ""
	if !r.NoFolder {
		inputs := r.Inputs
		if len(inputs) == 0 {
			inputs = []job.Input{{ID: "file-1", Name: "train.csv", Path: "train.csv", Size: 158112, SHA256: strings.Repeat("2", 64)}}
		}
		sum, err = s.Volume.WriteInputs(r.ID, inputs)
		require.NoError(tb, err)
	}
	var model json.RawMessage
	if r.Version > 0 {
		model = s.model(tb, r)
	}
	_, err = s.Store.Change(ctx, r.ID, func(rec *job.Record) error {
		rec.User, rec.InputsSHA256 = r.By, sum
		rec.Settings = job.NewSettings(values)
		if model != nil {
			rec.Model = model
		}
		return s.reach(rec, r)
	})
	require.NoError(tb, err)
}

// reach takes a record to its state.
func (s *Site) reach(rec *job.Record, r Run) error {
	switch r.State {
	case job.Accepted, job.Staged:
		rec.Advance(r.State)
	case job.Submitted, job.Running, job.Finished, job.Collected, job.Uploaded:
		rec.Advance(r.State)
		rec.Began, rec.Trained = rec.Created, rec.Created.Add(4*time.Second)
	default:
		if r.State == job.Cancelled {
			rec.CancelledBy = r.By
		}
		rec.End(r.State, r.Text)
		return rec.Close()
	}
	return nil
}

// model is the version of the model reviews that a run made, as its record has it. A run with a folder has it in the registry, too; its
// weights are no weights.
func (s *Site) model(tb testing.TB, r Run) json.RawMessage {
	tb.Helper()
	weights := []byte("weights of " + r.ID)
	sum := sha256.Sum256(weights)
	low, high := r.Accuracy-0.016, r.Accuracy+0.015
	v := registry.Version{
		Schema: 1, Name: "reviews", Run: r.ID, Clowder: s.client.As("").Address(), DatasetID: r.Dataset, Task: "text-classification", Kind: "text", Base: "google/bert-tiny",
		Labels: []string{"negative", "positive"}, Metric: "accuracy", Test: &registry.Score{Value: r.Accuracy, Low: &low, High: &high, N: 1821}, Created: time.Now().UTC(),
		WeightsSHA256: hex.EncodeToString(sum[:]),
		Files:         []registry.File{{Path: "weights.bin", Size: int64(len(weights)), SHA256: hex.EncodeToString(sum[:])}},
		Why:           "reviews/1 was the champion with accuracy 0.842 against " + results.Share(r.Accuracy) + " on the same test rows",
	}
	if !r.NoFolder {
		from := disk.Folder{Volume: tb.TempDir(), Name: "model"}
		require.NoError(tb, os.MkdirAll(from.Path(), 0o700))
		require.NoError(tb, os.WriteFile(filepath.Join(from.Path(), "weights.bin"), weights, 0o600))
		_, err := registry.New(s.Volume.Registry()).Register(tb.Context(), v, from, func(*registry.Version) (bool, string) { return r.Champion, v.Why })
		require.NoError(tb, err)
	}
	if v.Version = r.Version; r.Champion {
		v.Best = v.Ref()
	}
	doc, err := json.Marshal(v)
	require.NoError(tb, err)
	return doc
}

// folder writes what a run leaves on the volume.
func (s *Site) folder(tb testing.TB, r Run) {
	tb.Helper()
	require.NoError(tb, s.Volume.ResetRun(r.ID))
	dir := s.Volume.Run(r.ID).Path()
	switch {
	case r.State == job.Done && r.Extractor == "ncsa.ray.finetune":
		f := resultstest.New(tb, func(result *results.Result) { likely(result, r) })
		require.NoError(tb, os.CopyFS(dir, os.DirFS(f.Run().Path())))
		s.write(tb, r.ID, results.EventsFile, curves(r, f.Result.Metrics.Validation["accuracy"].Value, 1))
	case r.State == job.Running:
		s.write(tb, r.ID, results.EventsFile, curves(r, 0.83, r.Fraction))
		s.write(tb, r.ID, results.LogFile, "Reading train.csv\nTraining on 6920 rows\n")
	case r.State == job.Failed:
		s.write(tb, r.ID, results.LogFile, "Reading train.csv\n")
	}
}

func (s *Site) write(tb testing.TB, run, name, body string) {
	tb.Helper()
	require.NoError(tb, os.WriteFile(filepath.Join(s.Volume.Run(run).Path(), name), []byte(body), 0o600))
}

// Append writes more to a file of a run, as its training does.
func (s *Site) Append(tb testing.TB, run, name, text string) {
	tb.Helper()
	f, err := os.OpenFile(filepath.Join(s.Volume.Run(run).Path(), name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(tb, err)
	_, err = f.WriteString(text)
	require.NoError(tb, errors.Join(err, f.Close()))
}

// likely makes the result of the fixture one of this run.
func likely(result *results.Result, r Run) {
	result.Run = r.ID
	low, high := r.Accuracy-0.016, r.Accuracy+0.015
	result.Metrics.Test["accuracy"] = results.Score{Value: r.Accuracy, Low: &low, High: &high, N: 1821}
	result.Metrics.Test["f1_macro"] = results.Score{Value: r.Accuracy - 0.001, N: 1821}
	result.Metrics.Validation["accuracy"] = results.Score{Value: r.Accuracy - 0.007, N: 872}
	right := int(math.Round(r.Accuracy * 1821))
	result.Confusion = [][]int{{right / 2, 912 - right/2}, {909 - (right - right/2), right - right/2}}
	result.Data.SplitSHA256 = strings.Repeat("5", 64)
	for i := range result.Settings {
		if result.Settings[i].Name == "learning_rate" && r.Rate > 0 {
			result.Settings[i] = results.Setting{Name: "learning_rate", Value: r.Rate, Source: "settings file"}
		}
	}
	result.Settings = append(result.Settings, results.Setting{Name: "epochs", Value: 3.0, Source: "default"}, results.Setting{Name: "dropout", Value: 0.1, Source: "default"})
	if r.Change != nil {
		r.Change(result)
	}
}

// curves is the event log of a training of three epochs, as far as it is.
func curves(r Run, best, fraction float64) string {
	var b strings.Builder
	at := time.Now().UTC().Add(-time.Duration(120*fraction) * time.Second)
	say := func(format string, args ...any) {
		at = at.Add(300 * time.Millisecond)
		fmt.Fprintf(&b, `{"time":%q,"attempt":1,`, at.Format(time.RFC3339Nano))
		fmt.Fprintf(&b, format, args...)
		b.WriteString("}\n")
	}
	say(`"kind":"phase","phase":"start","text":"The training program is running."`)
	say(`"kind":"phase","phase":"prepare","text":"Reading the data."`)
	say(`"kind":"decision","what":"label_column","choice":"sentiment","why":"sentiment is used as the label because of its name."`)
	say(`"kind":"warning","code":"split_overlap","text":"12 rows stand in train and test: they count as test rows only."`)
	say(`"kind":"resource","device":"cpu","workers":1,"threads":2`)
	say(`"kind":"phase","phase":"train","text":"Training on 6,920 rows for up to 3 epochs."`)
	const steps = 150
	shape := 1 + 40*r.Rate
	for step := 1; float64(step) <= fraction*steps; step++ {
		x := float64(step) / steps
		if step%5 == 0 {
			say(`"kind":"progress","epoch":%d,"epochs":3,"step":%d,"steps":%d,"fraction":%.4f,"loss":%.4f,"learning_rate":%.6f,"samples_per_second":337,"eta_seconds":%.0f`,
				min(3, 1+(step-1)*3/steps), step, steps, x, 0.2+0.5*math.Exp(-3*shape*x)+0.02*math.Sin(7*float64(step)), 0.001*(1-x), 180*(1-x))
		}
		if step%25 == 0 {
			epoch := 3 * x
			value := best - 0.2*math.Exp(-4*shape*x)
			say(`"kind":"eval","epoch":%.2f,"step":%d,"split":"train","metrics":{"loss":%.4f}`, epoch, step, 0.2+0.5*math.Exp(-3*shape*x))
			say(`"kind":"eval","epoch":%.2f,"step":%d,"split":"validation","metrics":{"loss":%.4f,"accuracy":%.4f}`, epoch, step, 0.33+0.35*math.Exp(-4*shape*x)+0.02*x, value)
			say(`"kind":"best","epoch":%.2f,"step":%d,"metric":"accuracy","value":%.4f`, epoch, step, value)
		}
	}
	if fraction >= 1 {
		say(`"kind":"phase","phase":"test","text":"Evaluating the best model."`)
		say(`"kind":"phase","phase":"export","text":"Writing the model."`)
		say(`"kind":"done","seconds":80`)
	}
	return b.String()
}

// Fill adds a run in each state to the dataset Film reviews, the newest last.
func (s *Site) Fill(tb testing.TB) {
	tb.Helper()
	for _, r := range []Run{
		{ID: "ft-first3ilm6reviews2ab", Name: "first try", State: job.Failed, Text: "train.csv has no column of labels. Name it in the field Label column, then submit again."},
		{ID: "ft-yigcyhzk4mhq2nof7l3a", Accuracy: 0.842, Version: 1, Text: "Accuracy 0.842 on 1,821 held-out rows."},
		{ID: "ft-b2kq91xav5tuw3jz4rme", Name: "slower", By: Bob, Accuracy: 0.834, Rate: 5e-5, Version: 2, Text: "Accuracy 0.834 on 1,821 held-out rows."},
		{ID: "ft-qm4d5kcanceled2xy7wz", By: Bob, State: job.Cancelled, Text: "Cancelled by bob@example.org."},
		{ID: "ft-lr3e4dyy2gkf5pnmt3vc", Name: "stars-lr3e-4", Accuracy: 0.871, Rate: 3e-4, Version: 3, Champion: true, Text: "Accuracy 0.871 on 1,821 held-out rows.", Settings: map[string]any{"epochs": int64(5), "batch_size": int64(16)}},
		{ID: "ft-k3vr7now2ninghalfway", Name: "longer texts", By: Bob, State: job.Running, Fraction: 0.67, Settings: map[string]any{"output.register_as": "reviews"}},
		{ID: "ft-a7waiting2inline4rayq", State: job.Staged},
	} {
		s.Add(tb, r)
	}
}
