package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/text"
)

// runPart says what the run used.
type runPart struct {
	Facts   []pair
	Phases  []bar
	Workers []workerRow
	// Files, GPU and Waiting say that the table of workers has these columns.
	Files, GPU, Waiting bool
}

type workerRow struct{ Rank, Speed, CPU, Memory, Files, GPU, Waiting string }

func newRunPart(events []results.Event, r *results.Result, m manifest.Meta) runPart {
	part := runPart{Facts: runFacts(r, m), Phases: phases(events, r)}
	for _, w := range r.Training.PerWorker[:min(len(r.Training.PerWorker), maxRows)] {
		row := workerRow{
			Rank: strings.TrimSpace(fmt.Sprintf("%d %s", w.Rank, text.Shorten(results.Plain(w.Node, ""), 40))), Speed: text.Number(int64(w.SamplesPerSecond + 0.5)),
			CPU: "–", Memory: text.Bytes(w.PeakMemoryBytes), Files: "–", GPU: "–", Waiting: "–",
		}
		if w.Seconds > 0 {
			row.CPU = fmt.Sprintf("%.2f cores", w.CPUSeconds/w.Seconds)
		}
		if w.FileMemoryBytes > 0 {
			row.Files, part.Files = text.Bytes(w.FileMemoryBytes), true
		}
		if w.GPUPeakMemoryBytes > 0 {
			row.GPU, part.GPU = text.Bytes(w.GPUPeakMemoryBytes), true
		}
		if w.WaitingShare != nil && len(r.Training.PerWorker) > 1 {
			row.Waiting, part.Waiting = fmt.Sprintf("%.0f %%", 100**w.WaitingShare), true
		}
		part.Workers = append(part.Workers, row)
	}
	return part
}

func runFacts(r *results.Result, m manifest.Meta) []pair {
	out := []pair{{"Started", day(m.Started)}, {"Duration", took(r)}}
	if r.Kind == results.ResultTraining {
		out = append(out, trainingFacts(r)...)
	}
	h := r.Hardware
	if h.Cores > 0 || h.CPU != "" {
		out = append(out, pair{"Machine", fmt.Sprintf("%s, %s, %s of memory", results.Plain(h.CPU, "unknown CPU"), text.Count(h.Cores, "core"), text.Bytes(h.MemoryBytes))})
	}
	if h.GPUs > 0 {
		out = append(out, pair{"GPU", fmt.Sprintf("%d, %s", h.GPUs, results.Plain(h.GPU, "unknown type"))})
	}
	out = append(out, pair{"Run", results.Plain(m.Run, r.Run)})
	var versions []string
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		v := r.Versions[name]
		if len(versions) < maxRows {
			versions = append(versions, name+" "+v)
		}
	}
	if len(versions) > 0 {
		out = append(out, pair{"Versions", results.Plain(strings.Join(versions, ", "), "")})
	}
	return out
}

// took is the time of the whole run, and of the training against what it was thought to take.
func took(r *results.Result) string {
	words := text.Duration(results.Seconds(r.Seconds)) + " in total"
	switch {
	case r.Kind == results.ResultTraining && r.EstimateSeconds > 0:
		return fmt.Sprintf("%s; training took %s, estimated: %s", words, text.Duration(results.Seconds(r.Training.Seconds)), text.Duration(results.Seconds(r.EstimateSeconds)))
	case r.Kind == results.ResultTraining:
		return fmt.Sprintf("%s; training took %s", words, text.Duration(results.Seconds(r.Training.Seconds)))
	case r.EstimateSeconds > 0:
		return fmt.Sprintf("%s; training would take %s", words, text.About(results.Seconds(r.EstimateSeconds)))
	default:
		return words
	}
}

func trainingFacts(r *results.Result) []pair {
	t := r.Training
	device := results.Plain(t.Device, "")
	if r.HasCurves() {
		device += ", " + text.Count(t.Workers, "worker")
	}
	if t.Precision != "" {
		device += ", " + results.Plain(t.Precision, "")
	}
	out := []pair{{"Device", device}}
	if r.HasCurves() {
		out = append(out, pair{"Training", fmt.Sprintf("%s, %s (%s)", epochs(t.Epochs), text.Count(t.Steps, "step"), results.Plain(t.Stopped, ""))},
			pair{"Speed", text.Number(int64(t.SamplesPerSecond+0.5)) + " rows per second"})
	}
	var cpu float64
	for _, w := range t.PerWorker {
		cpu += w.CPUSeconds
	}
	if cpu > 0 {
		out = append(out, pair{"CPU time", text.Duration(results.Seconds(cpu))})
	}
	if len(t.PerWorker) > 0 && t.PerWorker[0].GPUPeakMemoryBytes > 0 {
		out = append(out, pair{"GPU time", text.Duration(results.Seconds(t.Seconds * float64(t.Workers)))})
	}
	if t.PeakMemoryBytes > 0 {
		out = append(out, pair{"Peak memory", text.Bytes(t.PeakMemoryBytes)})
	}
	if r.HasCurves() {
		out = append(out, pair{"Checkpoints", "stayed on the shared volume; only the best model is delivered"})
	}
	if t.GradientBytes > 0 && t.Workers > 1 {
		out = append(out, pair{"Communication", text.Bytes(t.GradientBytes) + " of gradients per step"})
	}
	if t.Resumed > 0 {
		out = append(out, pair{"Resumed", text.Times(t.Resumed) + " from a checkpoint"})
	}
	if r.Attempt > 1 {
		out = append(out, pair{"Attempts", fmt.Sprintf("%d; only the last one finished", r.Attempt)})
	}
	return out
}

// phaseNames are the phases of a run in their order, as a person calls them.
var phaseNames = []pair{
	{"start", "Starting"},
	{"prepare", "Reading data"},
	{"train", "Training"},
	{"test", "Testing"},
	{"predict", "Predicting"},
	{"export", "Writing results"},
}

// phases are the times that the phases of the last attempt took.
func phases(events []results.Event, r *results.Result) []bar {
	spent := map[string]time.Duration{}
	var current string
	var since time.Time
	for _, e := range events {
		if e.Attempt != r.Attempt {
			continue
		}
		if current != "" && e.Time.After(since) {
			spent[current] += e.Time.Sub(since)
		}
		since = e.Time
		if e.Kind == results.KindPhase {
			current = e.Phase
		}
	}
	longest := time.Duration(1)
	for _, p := range phaseNames {
		longest = max(longest, spent[p.Name])
	}
	var out []bar
	for _, p := range phaseNames {
		if d := spent[p.Name]; d > 0 {
			out = append(out, bar{Name: p.Value, Value: text.Duration(d), Share: chart.Tenth(100 * float64(d) / float64(longest))})
		}
	}
	return out
}
