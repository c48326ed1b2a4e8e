package results

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ncsa/clowder-ray/internal/results/section"
)

// checkCharts checks what the charts of a result compute with.
func (r *Result) checkCharts() error {
	err := errors.Join(r.checkConfusion(), r.Data.Lengths.check("lengths"))
	if g := r.Regression; g != nil {
		err = errors.Join(err, g.Residuals.check("residuals"))
	}
	if p := r.Prediction; p != nil {
		err = errors.Join(err, p.Values.check("values"))
	}
	return err
}

func (h *Histogram) check(what string) error {
	if h != nil && (len(h.Counts) == 0 || len(h.Edges) != len(h.Counts)+1 || !slices.IsSorted(h.Edges)) {
		return fmt.Errorf("%s: a histogram does not fit together", what)
	}
	return nil
}

func (r *Result) checkImages() error {
	lists := map[string][]Example{"samples": r.Data.Samples, "mistakes": r.Mistakes, "unsure": r.Unsure}
	if r.Prediction != nil {
		lists["samples"] = r.Prediction.Samples
	}
	for _, what := range []string{"samples", "mistakes", "unsure"} {
		for _, e := range lists[what] {
			if err := section.CheckPicture(e.Image); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
		}
	}
	return nil
}
