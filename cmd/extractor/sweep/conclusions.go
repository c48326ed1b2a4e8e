package sweep

import (
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// worthIt is the efficiency from which one more worker pays.
	worthIt = 0.7
	// waitingMuch is the share of the step time from which waiting is the reason why workers do not pay.
	waitingMuch = 0.2
	// busy is how many cores a single worker of one thread keeps busy at least, unless other programs use the machine.
	busy = 0.75
)

// conclusions says in sentences what the table shows: about workers, about epochs, and about what limits the comparison.
func (t *table) conclusions() []string {
	if len(t.Rows) == 0 {
		return nil
	}
	longest := t.with(t.Rows[len(t.Rows)-1].Epochs)
	out := t.aboutWorkers(longest)
	if sentence := t.aboutEpochs(); sentence != "" {
		out = append(out, sentence)
	}
	return append(out, t.limits()...)
}

// with are the rows with a number of epochs, by ascending workers.
func (t *table) with(epochs int) []row {
	var out []row
	for _, r := range t.Rows {
		if r.Epochs == epochs {
			out = append(out, r)
		}
	}
	return out
}

// aboutWorkers compares the trainings with the most epochs, where the start weighs least.
func (t *table) aboutWorkers(rows []row) []string {
	if len(rows) < 2 {
		return nil
	}
	var out []string
	best := rows[0]
	for _, r := range rows[1:] {
		speedUp, efficiency := t.speedUp(r)
		if speedUp <= 0 {
			continue
		}
		out = append(out, fmt.Sprintf("%s: %.2f times the speed of %s (%.0f %% of what is possible), with %s.", text.Capital(text.Count(r.UsedWorkers, "worker")),
			speedUp, text.Count(rows[0].UsedWorkers, "worker"), 100*efficiency, text.Count(r.Epochs, "epoch")))
		if efficiency >= worthIt {
			best = r
		}
	}
	most := rows[len(rows)-1]
	switch {
	case best.Workers == most.Workers:
		out = append(out, text.Capital(text.Count(best.UsedWorkers, "worker"))+" pay for this dataset. More may pay, too.")
	case most.waiting() >= waitingMuch:
		out = append(out, fmt.Sprintf("Use %s. With more, each of them waits for the others for %.0f %% of its time: a larger batch_size helps.",
			text.Count(best.Workers, "worker"), 100*most.waiting()))
	default:
		out = append(out, fmt.Sprintf("Use %s: with more, much of the time goes into what workers do not share, such as the start and the measuring.",
			text.Count(best.Workers, "worker")))
	}
	return out
}

// aboutEpochs compares the fewest and the most epochs, with the fewest workers.
func (t *table) aboutEpochs() string {
	few := t.Rows[0]
	many := t.base(t.Rows[len(t.Rows)-1])
	if few.Epochs == many.Epochs || few.Score.N == 0 || many.Score.N == 0 {
		return ""
	}
	name := results.MetricName(few.Metric)
	words := fmt.Sprintf("%s: %s %s; %s: %s.", text.Capital(text.Count(few.Epochs, "epoch")), name, results.Figure(few.Metric, few.Score.Value),
		text.Count(many.Epochs, "epoch"), results.Figure(few.Metric, many.Score.Value))
	lowFew, highFew := few.Score.Bounds()
	lowMany, highMany := many.Score.Bounds()
	if few.Score.Low != nil && many.Score.Low != nil && lowMany <= highFew && lowFew <= highMany {
		words += " The 95 % intervals overlap, so the difference may be chance."
	}
	return words
}

// limits says what makes trainings less comparable than the table suggests.
func (t *table) limits() []string {
	var out []string
	first := t.Rows[0]
	var fewer, early, elsewhere []string
	shared := 0
	for _, r := range t.Rows {
		name := text.Count(r.Workers, "worker") + ", " + text.Count(r.Epochs, "epoch")
		if r.UsedWorkers > 0 && r.UsedWorkers < r.Workers {
			fewer = append(fewer, fmt.Sprintf("%s: %d", name, r.UsedWorkers))
		}
		if r.EpochsDone < float64(r.Epochs) {
			early = append(early, fmt.Sprintf("%s: %s after %.4g", name, results.Plain(r.Stopped, "ended"), r.EpochsDone))
		}
		if r.Hardware.CPU != first.Hardware.CPU || r.Hardware.Cores != first.Hardware.Cores {
			elsewhere = append(elsewhere, name)
		}
		if threads := r.UsedWorkers * max(1, r.Threads); r.onOneNode() && r.Hardware.Cores > 0 && threads > r.Hardware.Cores {
			shared = max(shared, threads)
		}
	}
	if t.any(func(r row) bool { return r.UsedWorkers == 1 && r.cores() > 0 && r.cores() < busy }) {
		out = append(out, "Other programs used the machine during these trainings: a worker that was alone had less than a core. Repeat the sweep on a quiet machine."+t.byCPU())
	}
	if len(fewer) > 0 {
		out = append(out, "Ray had no room for all workers ("+strings.Join(fewer, "; ")+").")
	}
	if len(early) > 0 {
		out = append(out, "Some trainings ended before their last epoch ("+strings.Join(early, "; ")+"): their time is too short.")
	}
	if len(elsewhere) > 0 {
		out = append(out, "These ran on another machine: "+strings.Join(elsewhere, "; ")+".")
	}
	if shared > 0 {
		out = append(out, fmt.Sprintf("The machine has %s for up to %d threads of workers, so these share them.", text.Count(first.Hardware.Cores, "core"), shared))
	}
	if t.any(func(r row) bool { return r.Network != "" }) {
		out = append(out, "The delivered model is not the network alone: workers and epochs change only the network.")
	}
	return out
}

// byCPU compares the most workers with the fewest by their seconds of CPU, which other programs hardly change; empty where these are not known.
func (t *table) byCPU() string {
	rows := t.with(t.Rows[len(t.Rows)-1].Epochs)
	few, many := rows[0], rows[len(rows)-1]
	if few.UsedWorkers == many.UsedWorkers || few.slowestCPU() <= 0 || many.slowestCPU() <= 0 {
		return ""
	}
	return fmt.Sprintf(" By the CPU of the slowest worker, %s have %.2f times the speed of %s.", text.Count(many.UsedWorkers, "worker"),
		few.slowestCPU()/many.slowestCPU(), text.Count(few.UsedWorkers, "worker"))
}

// slowestCPU is the largest number of seconds of CPU that a worker took.
func (r row) slowestCPU() float64 {
	most := 0.0
	for _, w := range r.PerWorker {
		most = max(most, w.CPUSeconds)
	}
	return most
}

// onOneNode reports whether all workers ran on one machine.
func (r row) onOneNode() bool {
	for _, w := range r.PerWorker {
		if w.Node != r.PerWorker[0].Node {
			return false
		}
	}
	return true
}
