package results

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
)

const testRun = "ft-abcdefgh234567abcdef"

// fixture is a run folder as a trainer leaves it after a training of two classes and three epochs.
type fixture struct {
	dir    string
	result Result
	meta   Meta
}

// setup writes a run folder; change may alter the result before it is written.
func setup(tb testing.TB, change ...func(*Result)) *fixture {
	tb.Helper()
	f := &fixture{dir: tb.TempDir()}
	f.write(tb, "out/model/model.safetensors", safetensors(4096))
	f.write(tb, "out/model/config.json", []byte(`{"model_type":"bert","num_labels":2}`))
	f.write(tb, "out/model/tokenizer.json", []byte(`{"version":"1.0"}`))
	f.write(tb, "out/predictions.csv", []byte("text,label,predicted,probability\na fine film,positive,positive,0.91\n"))
	f.write(tb, "out/metrics.json", []byte("{}"))
	f.write(tb, "log.txt", []byte("epoch 1 done\n"))
	f.write(tb, EventsFile, eventLog())

	low, high := 0.824, 0.858
	f.result = Result{
		Schema: 2, Kind: ResultTraining, Run: testRun, Attempt: 1, Task: "text-classification", Metric: "accuracy", BestEpoch: 2, BestStep: 400, Seconds: 80,
		Settings: []Setting{
			{Name: "batch_size", Value: 32.0, Source: "default"},
			{Name: "learning_rate", Value: 0.0002, Source: sourceChosen},
			{Name: "seed", Value: 42.0, Source: "form"},
			{Name: "text_column", Value: "sentence", Source: sourceChosen},
		},
		Checks: []Check{{Code: "copies", Level: levelOK, Text: "No example occurs twice."}},
		Metrics: Metrics{
			Task: "text-classification", Metric: "accuracy", BestEpoch: 2, BestStep: 400,
			Train:      Scores{"accuracy": {Value: 0.93, N: 6920}, "loss": {Value: 0.21, N: 6920}},
			Validation: Scores{"accuracy": {Value: 0.835, N: 872}, "loss": {Value: 0.41, N: 872}},
			Test:       Scores{"accuracy": {Value: 0.842, Low: &low, High: &high, N: 1821}, "f1_macro": {Value: 0.841, N: 1821}, "loss": {Value: 0.4, N: 1821}},
			Baselines: []Baseline{
				{Name: baselineConstant, Title: "most frequent class", Test: Scores{"accuracy": {Value: 0.499, N: 1821}}},
				{Name: baselineLinear, Title: "bag of words", Test: Scores{"accuracy": {Value: 0.8, N: 1821}}},
			},
		},
		Model:     Model{Kind: "text", Base: "google/bert-tiny", Parameters: 4_386_178, Labels: []string{"negative", "positive"}, MaxLength: 64},
		Confusion: [][]int{{771, 141}, {147, 762}},
		Versions:  map[string]string{"torch": "2.15.0", "ray": "2.60.0"},
		Warnings:  []Warning{{Code: "truncated", Text: "3 % of the texts are longer than 64 tokens and were cut."}},
		Training: Training{
			Seed: 42, Device: "cpu", Workers: 2, Threads: 1, Seconds: 61.5, SamplesPerSecond: 337, PeakMemoryBytes: 900 << 20,
			Epochs: 3, LearningRate: 2e-4, BatchSize: 32, Stopped: "early stopping",
		},
	}
	f.result.Data.Rows.Train, f.result.Data.Rows.Validation, f.result.Data.Rows.Test = 6920, 872, 1821
	f.result.Data.Files = []string{"train.tsv", "dev.tsv"}
	f.result.Data.InputColumns, f.result.Data.LabelColumn = []string{"sentence"}, "label"
	f.result.Data.Labels = map[string]int{"negative": 3310, "positive": 3610}
	f.result.Data.TruncatedShare = 0.03
	for _, p := range []string{"out/metrics.json", "out/model/config.json", "out/model/model.safetensors", "out/model/tokenizer.json", "out/predictions.csv"} {
		f.list(tb, p)
	}
	for _, c := range change {
		c(&f.result)
	}
	f.writeJSON(tb, ResultFile, f.result)
	f.meta = Meta{
		Run: testRun, JobID: "6740", DatasetID: "ds1", DatasetName: "Film reviews", Extractor: "ncsa.ray.finetune", Version: "1.0.0",
		Started:  time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC),
		Settings: map[string]any{"task": "text-classification", "epochs": 3, "batch_size": 32, "learning_rate": 0.0, "seed": 42},
		Inputs:   []job.Input{{ID: "f1", Name: "train.tsv", Path: "train.tsv", Size: 10, SHA256: strings.Repeat("a", 64)}},
	}
	return f
}

// run is the run folder.
func (f *fixture) run() disk.Folder { return disk.Folder{Volume: f.dir} }

// build makes the deliverables in the folder deliver of the run folder.
func (f *fixture) build(tb testing.TB) ([]Artifact, error) {
	tb.Helper()
	return Build(tb.Context(), f.run(), f.run().In("deliver"), &f.result, f.meta)
}

// pathOf is where an artifact lies.
func pathOf(a Artifact) string { return filepath.Join(a.Folder.Path(), filepath.FromSlash(a.Name)) }

// logOf is where the log of a tail lies.
func logOf(t *Tail) string { return filepath.Join(t.Dir.Path(), EventsFile) }

func (f *fixture) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

func (f *fixture) write(tb testing.TB, name string, body []byte) {
	tb.Helper()
	require.NoError(tb, os.MkdirAll(filepath.Dir(f.path(name)), 0o755))
	require.NoError(tb, os.WriteFile(f.path(name), body, 0o600))
}

func (f *fixture) writeJSON(tb testing.TB, name string, v any) {
	tb.Helper()
	doc, err := json.Marshal(v)
	require.NoError(tb, err)
	f.write(tb, name, doc)
}

// list adds a file of the run folder to the artifacts of the result.
func (f *fixture) list(tb testing.TB, name string) {
	tb.Helper()
	body, err := os.ReadFile(f.path(name))
	require.NoError(tb, err)
	sum := sha256.Sum256(body)
	f.result.Outputs = append(f.result.Outputs, Output{Path: name, Size: int64(len(body)), SHA256: hex.EncodeToString(sum[:])})
}

func safetensors(floats int) []byte {
	header := fmt.Sprintf(`{"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[%d,2],"data_offsets":[0,%d]}}`, floats/2, 4*floats)
	body := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	body = append(body, header...)
	for i := range floats {
		body = binary.LittleEndian.AppendUint32(body, math.Float32bits(float32(math.Sin(float64(i)))))
	}
	return body
}

// eventLog is what a training of three epochs with 200 steps each says.
func eventLog() []byte {
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
