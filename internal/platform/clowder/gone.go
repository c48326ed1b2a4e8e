package clowder

import (
	"errors"
	"fmt"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
)

// whyGone ends the sentence about a file that somebody deleted during the staging.
const whyGone = "it was deleted while the run was being prepared"

// withoutGone takes what a staging of files came to. A job goes on without files that were deleted meanwhile, unless its user named one of
// them or no file is left. choices are by the ids of files that fields of the form name.
func withoutGone(rec job.Record, choices map[string]*job.Choice, inputs []job.Input, err error) ([]job.Input, []job.NotRead, error) {
	missing, ok := errors.AsType[*clowder.GoneError](err)
	if !ok {
		return inputs, nil, err
	}
	if len(missing.Barred) > 0 {
		return nil, nil, barred(missing.Barred)
	}
	if len(inputs) == 0 {
		return nil, nil, missing
	}
	for _, f := range missing.Files {
		if choice := choices[f.ID]; choice != nil && choice.Exact >= job.ExactFile {
			return nil, nil, goneNamed(f)
		}
	}
	left, err := goneOf(rec, missing.Files)
	return inputs, left, err
}

// goneOf says why a job does without files. The error about one that its user named is permanent.
func goneOf(rec job.Record, files []clowder.File) (left []job.NotRead, err error) {
	for _, f := range files {
		if isNamed(rec, f) {
			return nil, goneNamed(f)
		}
		if len(left) < mostLate {
			left = append(left, job.NotRead{Name: f.Path, Reason: whyGone})
		}
	}
	return left, nil
}

func goneNamed(f clowder.File) error {
	return job.Permanent(fmt.Errorf("the file %s was deleted after you chose it: add it again, or choose another one, then submit again", f.Path))
}

// isNamed reports whether the user asked for just this file: submitted it, or wrote its id, its path or its name into the form.
func isNamed(rec job.Record, f clowder.File) bool {
	if rec.Request.Kind == job.File && f.ID == rec.Request.ResourceID {
		return true
	}
	for _, value := range rec.Settings.Values {
		if text, ok := value.(string); ok && (text == f.ID || text == f.Path || text == f.Name) {
			return true
		}
	}
	return false
}
