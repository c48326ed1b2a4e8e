package sweep

import (
	"fmt"
	"strings"

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
	return append(append(t.aboutWorkers(), t.aboutEpochs()...), t.limits()...)
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
func (t *table) aboutWorkers() []string {
	rows := t.with(t.Rows[len(t.Rows)-1].Epochs)
	if len(rows) < 2 {
		return nil
	}
	var out []string
	best, most := rows[0], rows[len(rows)-1]
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
	switch {
	case best.Workers == most.Workers:
		return append(out, text.Capital(text.Count(best.UsedWorkers, "worker"))+" pay for this dataset. More may pay, too.")
	case most.waiting() >= waitingMuch:
		return append(out, fmt.Sprintf("Use %s. With more, each of them waits for the others for %.0f %% of its time: a larger batch_size helps.",
			text.Count(best.Workers, "worker"), 100*most.waiting()))
	default:
		return append(out, fmt.Sprintf("Use %s: with more, much of the time goes into what workers do not share, such as the start and the measuring.",
			text.Count(best.Workers, "worker")))
	}
}

// aboutEpochs compares the fewest and the most epochs, with the fewest workers.
func (t *table) aboutEpochs() []string {
	few, many := t.Rows[0], t.base(t.Rows[len(t.Rows)-1])
	if few.Epochs == many.Epochs || few.Score.N == 0 || many.Score.N == 0 {
		return nil
	}
	words := fmt.Sprintf("%s: %s %s; %s: %s.", text.Capital(text.Count(few.Epochs, "epoch")), few.metric().Words(),
		few.metric().Figure(few.Score.Value), text.Count(many.Epochs, "epoch"), few.metric().Figure(many.Score.Value))
	lowFew, highFew := few.Score.Bounds()
	lowMany, highMany := many.Score.Bounds()
	if few.Score.Low != nil && many.Score.Low != nil && lowMany <= highFew && lowFew <= highMany {
		words += " The 95 % intervals overlap, so the difference may be chance."
	}
	return []string{words}
}

// limits says what makes trainings less comparable than the table suggests.
func (t *table) limits() []string {
	var out []string
	say := func(sentence string, applies func(row) bool) {
		var names []string
		for _, r := range t.Rows {
			if applies(r) {
				names = append(names, r.name())
			}
		}
		if len(names) > 0 {
			out = append(out, fmt.Sprintf(sentence, strings.Join(names, "; ")))
		}
	}
	first := t.Rows[0].Hardware
	say("Other programs used the machine during these trainings: a worker that was alone had less than a core (%s). Repeat the sweep on a quiet machine.",
		func(r row) bool { return r.UsedWorkers == 1 && r.cores() > 0 && r.cores() < busy })
	say("Ray had no room for all workers (%s).", func(r row) bool { return r.UsedWorkers > 0 && r.UsedWorkers < r.Workers })
	say("Some trainings ended before their last epoch (%s): their time is too short.", func(r row) bool { return r.EpochsDone < float64(r.Epochs) })
	say("These ran on another machine: %s.", func(r row) bool { return r.Hardware.CPU != first.CPU || r.Hardware.Cores != first.Cores })
	say("The workers have more threads than the machine has cores (%s), so they share them.", func(r row) bool {
		return r.onOneNode() && r.Hardware.Cores > 0 && r.UsedWorkers*max(1, r.Threads) > r.Hardware.Cores
	})
	if t.any(func(r row) bool { return r.Network != "" }) {
		out = append(out, "The delivered model is not the network alone: workers and epochs change only the network.")
	}
	return out
}
