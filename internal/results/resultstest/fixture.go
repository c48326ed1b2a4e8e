package resultstest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
)

// TestRun is the name of the run of a Fixture.
const TestRun = "ft-abcdefgh234567abcdef"

// Fixture is a run folder as a trainer leaves it after a training of two classes and three epochs.
type Fixture struct {
	dir    string
	Result results.Result
	Meta   manifest.Meta
}

// New writes a run folder; change may alter the result before it is written.
func New(tb testing.TB, change ...func(*results.Result)) *Fixture {
	tb.Helper()
	f := &Fixture{dir: tb.TempDir()}
	f.Write(tb, "out/model/model.safetensors", Safetensors(4096))
	f.Write(tb, "out/model/config.json", []byte(`{"model_type":"bert","num_labels":2}`))
	f.Write(tb, "out/model/tokenizer.json", []byte(`{"version":"1.0"}`))
	f.Write(tb, "out/predictions.csv", []byte("text,label,predicted,probability\na fine film,positive,positive,0.91\n"))
	f.Write(tb, "out/metrics.json", []byte("{}"))
	f.Write(tb, "log.txt", []byte("epoch 1 done\n"))
	f.Write(tb, results.EventsFile, EventLog())

	low, high := 0.824, 0.858
	f.Result = results.Result{
		Schema: 3, Kind: results.ResultTraining, Run: TestRun, Attempt: 1, Task: "text-classification", Metric: "accuracy", BestEpoch: 2, BestStep: 400, Seconds: 80,
		Settings: []results.Setting{
			{Name: "batch_size", Value: 32.0, Source: "default"},
			{Name: "learning_rate", Value: 0.0002, Source: results.SourceChosen},
			{Name: "seed", Value: 42.0, Source: "form"},
			{Name: "text_column", Value: "sentence", Source: results.SourceChosen},
		},
		Checks: []results.Check{{Code: "copies", Level: results.LevelOK, Text: "No example occurs twice."}},
		Metrics: results.Metrics{
			Task: "text-classification", Metric: "accuracy", BestEpoch: 2, BestStep: 400,
			Train:      results.Scores{"accuracy": {Value: 0.93, N: 6920}, "loss": {Value: 0.21, N: 6920}},
			Validation: results.Scores{"accuracy": {Value: 0.835, N: 872}, "loss": {Value: 0.41, N: 872}},
			Test:       results.Scores{"accuracy": {Value: 0.842, Low: &low, High: &high, N: 1821}, "f1_macro": {Value: 0.841, N: 1821}, "loss": {Value: 0.4, N: 1821}},
			Baselines: []results.Baseline{
				{Name: "constant", Role: results.RoleConstant, Title: "most frequent class", Test: results.Scores{"accuracy": {Value: 0.499, N: 1821}}},
				{Name: "linear", Role: results.RoleSimple, Title: "bag of words", Test: results.Scores{"accuracy": {Value: 0.8, N: 1821}}},
			},
		},
		Model:     results.Model{Kind: "text", Base: "google/bert-tiny", Parameters: 4_386_178, Labels: []string{"negative", "positive"}, MaxLength: 64},
		Confusion: [][]int{{771, 141}, {147, 762}},
		Described: results.MetricList{
			{Name: "accuracy", Title: "accuracy", Direction: results.Higher},
			{Name: "f1_macro", Title: "F1", Direction: results.Higher},
			{Name: "loss", Title: "loss", Direction: results.Lower},
		},
		Usage:    results.Usage{Snippet: "text/text", Baseline: "text/baseline_text", Input: "text, up to 64 tokens"},
		Versions: map[string]string{"torch": "2.15.0", "ray": "2.60.0"},
		Warnings: []results.Warning{{Code: "truncated", Text: "3 % of the texts are longer than 64 tokens and were cut."}},
		Training: results.Training{
			Seed: 42, Device: "cpu", Workers: 2, Threads: 1, Seconds: 61.5, SamplesPerSecond: 337, PeakMemoryBytes: 900 << 20,
			Epochs: 3, LearningRate: 2e-4, BatchSize: 32, Stopped: "early stopping",
		},
	}
	f.Result.Data.Rows.Train, f.Result.Data.Rows.Validation, f.Result.Data.Rows.Test = 6920, 872, 1821
	f.Result.Data.Files = []string{"train.tsv", "dev.tsv"}
	f.Result.Data.InputColumns, f.Result.Data.LabelColumn = []string{"sentence"}, "label"
	f.Result.Data.Labels = map[string]int{"negative": 3310, "positive": 3610}
	f.Result.Data.TruncatedShare, f.Result.Data.Enough = 0.03, 500
	for _, p := range []string{"out/metrics.json", "out/model/config.json", "out/model/model.safetensors", "out/model/tokenizer.json", "out/predictions.csv"} {
		f.List(tb, p)
	}
	for _, c := range change {
		c(&f.Result)
	}
	f.WriteJSON(tb, results.ResultFile, f.Result)
	f.Meta = manifest.Meta{
		Run: TestRun, JobID: "6740", DatasetID: "ds1", DatasetName: "Film reviews", Extractor: "ncsa.ray.finetune", Version: "1.0.0",
		Started:  time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC),
		Settings: map[string]any{"task": "text-classification", "epochs": 3, "batch_size": 32, "learning_rate": 0.0, "seed": 42},
		Inputs:   []job.Input{{ID: "f1", Name: "train.tsv", Path: "train.tsv", Size: 10, SHA256: strings.Repeat("a", 64)}},
	}
	return f
}

// Run is the run folder.
func (f *Fixture) Run() disk.Folder { return disk.Folder{Volume: f.dir} }

// Path is where a file of the run folder lies.
func (f *Fixture) Path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

func (f *Fixture) Write(tb testing.TB, name string, body []byte) {
	tb.Helper()
	require.NoError(tb, os.MkdirAll(filepath.Dir(f.Path(name)), 0o750))
	require.NoError(tb, os.WriteFile(f.Path(name), body, 0o600))
}

// WriteJSON writes a file of the run folder.
func (f *Fixture) WriteJSON(tb testing.TB, name string, v any) {
	tb.Helper()
	doc, err := json.Marshal(v)
	require.NoError(tb, err)
	f.Write(tb, name, doc)
}

// List adds a file of the run folder to the artifacts of the result.
func (f *Fixture) List(tb testing.TB, name string) {
	tb.Helper()
	body, err := os.ReadFile(f.Path(name))
	require.NoError(tb, err)
	sum := sha256.Sum256(body)
	f.Result.Outputs = append(f.Result.Outputs, results.Output{Path: name, Size: int64(len(body)), SHA256: hex.EncodeToString(sum[:])})
}

// Safetensors is a file of weights with so many numbers.
func Safetensors(floats int) []byte {
	header := fmt.Sprintf(`{"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[%d,2],"data_offsets":[0,%d]}}`, floats/2, 4*floats)
	body := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	body = append(body, header...)
	for i := range floats {
		body = binary.LittleEndian.AppendUint32(body, math.Float32bits(float32(math.Sin(float64(i)))))
	}
	return body
}

// EventLog is what a training of three epochs with 200 steps each says.
func EventLog() []byte {
	var lines []string
	at := time.Date(2026, 11, 21, 10, 0, 5, 0, time.UTC)
	add := func(format string, args ...any) {
		at = at.Add(time.Second)
		lines = append(lines, fmt.Sprintf(`{"time":%q,"attempt":1,`, at.Format(time.RFC3339Nano))+fmt.Sprintf(format, args...)+"}")
	}
	add(`"kind":"phase","phase":"prepare","text":"Reading 2 files"`)
	add(`"kind":"decision","what":"text column","choice":"sentence","why":"Column sentence has the longest texts (19 words on average)."`)
	add(`"kind":"decision","what":"label column","choice":"label","why":"Column label has 2 distinct values that repeat."`)
	add(`"kind":"decision","what":"test rows","choice":["dev.tsv"],"why":"Its name contains dev, so it is held out."`)
	add(`"kind":"resource","device":"cpu","workers":2,"threads":1`)
	add(`"kind":"phase","phase":"train","text":"Training on 6,920 rows"`)
	validation := []float64{0.781, 0.835, 0.829}
	loss := []float64{0.52, 0.41, 0.47}
	for epoch := 1; epoch <= 3; epoch++ {
		for step := 10; step <= 200; step += 10 {
			fraction := (float64(epoch-1) + float64(step)/200) / 3
			add(`"kind":"progress","epoch":%d,"epochs":3,"step":%d,"steps":600,"fraction":%.6f,"loss":%.4f,"samples_per_second":337,"eta_seconds":%.1f`,
				epoch, (epoch-1)*200+step, fraction, 0.7*math.Exp(-1.8*fraction)+0.03*math.Sin(float64(step+7*epoch)), 60*(1-fraction))
		}
		add(`"kind":"eval","epoch":%d,"step":%d,"split":"validation","metrics":{"accuracy":%.3f,"loss":%.3f}`, epoch, epoch*200, validation[epoch-1], loss[epoch-1])
		if epoch <= 2 {
			add(`"kind":"best","epoch":%d,"step":%d,"metric":"accuracy","value":%.3f`, epoch, epoch*200, validation[epoch-1])
		}
	}
	add(`"kind":"warning","code":"truncated","text":"3 %% of the texts are longer than 64 tokens and were cut."`)
	add(`"kind":"done","seconds":61.5`)
	return []byte(strings.Join(lines, "\n") + "\n")
}

// NewGolden is a run folder that holds what a golden result names.
func NewGolden(t *testing.T, name string, change ...func(*results.Result)) *Fixture {
	t.Helper()
	r, err := results.DecodeResult(Golden(t, name))
	require.NoError(t, err)
	f := &Fixture{dir: t.TempDir(), Meta: LikelyMeta(r)}
	outputs := r.Outputs
	r.Outputs = []results.Output{}
	f.Result = *r
	for _, o := range outputs {
		body := []byte(o.Path + "\n")
		switch filepath.Ext(o.Path) {
		case results.WeightsSuffix:
			body = Safetensors(64)
		case ".parquet":
			body = []byte("PAR1 rows PAR1")
		case ".onnx":
			body = []byte("\x08 a network")
		}
		f.Write(t, o.Path, body)
		f.List(t, o.Path)
		listed := &f.Result.Outputs[len(f.Result.Outputs)-1]
		listed.Title, listed.Text, listed.OfModel, listed.Apart, listed.Shown = o.Title, o.Text, o.OfModel, o.Apart, o.Shown
	}
	for _, c := range change {
		c(&f.Result)
	}
	name = results.ResultFile
	if r.Partial {
		name = results.PartialFile
	}
	f.WriteJSON(t, name, f.Result)
	return f
}

// SetOption changes the value of an option that the result was made with.
func SetOption(name string, value any) func(*results.Result) {
	return func(r *results.Result) {
		for i := range r.Settings {
			if r.Settings[i].Name == name {
				r.Settings[i].Value = value
			}
		}
	}
}
