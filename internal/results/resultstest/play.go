// Package resultstest plays the trainer: it leaves in a run folder what a training that succeeded leaves there, within
// milliseconds. Tests and benchmarks of the service use it where the training itself is not the point.
package resultstest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/results"
)

// Play writes events.jsonl, log.txt, out/ and, last, result.json of an attempt of run into dir. A training that was told to stop
// and keep says so.
func Play(dir, run string, attempt int) error {
	low, high := 0.78, 0.96
	result := results.Result{
		Schema: 2, Kind: results.ResultTraining, Run: run, Attempt: attempt, Task: "text-classification", Metric: "accuracy", BestEpoch: 1, BestStep: 4,
		Settings: []results.Setting{}, Checks: []results.Check{},
		Metrics: results.Metrics{
			Task: "text-classification", Metric: "accuracy", BestEpoch: 1, BestStep: 4,
			Train:      results.Scores{"accuracy": {Value: 0.9, N: 100}},
			Validation: results.Scores{"accuracy": {Value: 0.9, N: 10}},
			Test:       results.Scores{"accuracy": {Value: 0.9, Low: &low, High: &high, N: 40}},
			Baselines:  []results.Baseline{},
		},
		Model:     results.Model{Kind: "text", Base: "played", FromScratch: true, Parameters: 2, Labels: []string{"no", "yes"}, MaxLength: 8},
		Confusion: [][]int{{18, 2}, {2, 18}},
		Training:  results.Training{Seed: 42, Device: "cpu", Workers: 1, Seconds: 1, SamplesPerSecond: 100, Epochs: 1, Stopped: why(dir)},
	}
	result.Data.Rows.Train, result.Data.Rows.Validation, result.Data.Rows.Test = 100, 10, 40
	result.Data.Files, result.Data.InputColumns, result.Data.LabelColumn = []string{"train.csv"}, []string{"text"}, "label"
	result.Data.Labels = map[string]int{"no": 50, "yes": 50}
	metrics, err := json.Marshal(result.Metrics)
	if err != nil {
		return err
	}
	for _, file := range []struct{ path, body string }{
		{"out/model/model.safetensors", tensors()},
		{"out/model/config.json", `{"model_type":"bert"}`},
		{"out/metrics.json", string(metrics)},
		{"out/predictions.csv", "row,label,predicted,confidence\n1,yes,yes,0.9\n"},
		{"out/model_card.md", "# A played model\n"},
	} {
		if err := write(filepath.Join(dir, file.path), file.body); err != nil {
			return err
		}
		sum := sha256.Sum256([]byte(file.body))
		result.Outputs = append(result.Outputs, results.Output{Path: file.path, Size: int64(len(file.body)), SHA256: hex.EncodeToString(sum[:])})
	}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	events := []string{
		fmt.Sprintf(`{"time":%q,"attempt":%d,"kind":"phase","phase":"train","text":"Training"}`, now, attempt),
		fmt.Sprintf(`{"time":%q,"attempt":%d,"kind":"eval","epoch":1,"step":4,"split":"validation","metrics":{"accuracy":0.9,"loss":0.3}}`, now, attempt),
		fmt.Sprintf(`{"time":%q,"attempt":%d,"kind":"progress","epoch":1,"epochs":1,"step":4,"steps":4,"fraction":1,"loss":0.3}`, now, attempt),
		fmt.Sprintf(`{"time":%q,"attempt":%d,"kind":"done"}`, now, attempt),
	}
	if err := write(filepath.Join(dir, results.EventsFile), strings.Join(events, "\n")+"\n"); err != nil {
		return err
	}
	if err := write(filepath.Join(dir, "log.txt"), "played\n"); err != nil {
		return err
	}
	doc, err := json.Marshal(result)
	if err != nil {
		return err
	}
	return write(filepath.Join(dir, results.ResultFile), string(doc))
}

// why says why the training ended.
func why(dir string) string {
	if told, err := os.ReadFile(filepath.Join(dir, "stop")); err == nil && strings.TrimSpace(string(told)) == "keep" {
		return "stopped by a person"
	}
	return "all epochs done"
}

// tensors is the smallest file of weights that the format allows.
func tensors() string {
	header := `{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`
	return string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header + strings.Repeat("\x00", 8)
}

func write(path, body string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(body), 0o600)
}
