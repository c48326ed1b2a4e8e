package clowder

import (
	"errors"
	"slices"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
)

// inputsOf returns the files that a job reads, of those in its dataset: the submitted file, or else all but the results of earlier runs,
// which are no data and may be large. The model that a prediction is to be made with is always among them.
func inputsOf(rec job.Record, files []clowder.File) ([]clowder.File, error) {
	if len(rec.Request.Announced) > 0 {
		return announcedOf(rec, files), nil
	}
	file := ""
	if rec.Request.Kind == job.File {
		file = rec.Request.ResourceID
	}
	inputs := slices.DeleteFunc(files, func(f clowder.File) bool {
		if f.ID == rec.Settings.ModelFile && f.ID != "" {
			return false
		}
		if file != "" {
			return f.ID != file
		}
		return isResult(f)
	})
	if file != "" && !slices.ContainsFunc(inputs, func(f clowder.File) bool { return f.ID == file }) {
		return nil, job.Permanent(errors.New("the file is no longer in its dataset: add it again, then submit it"))
	}
	return inputs, nil
}

// announcedOf returns the files of an automatic run.
func announcedOf(rec job.Record, files []clowder.File) []clowder.File {
	wanted := make(map[string]bool, len(rec.Request.Announced))
	for _, a := range rec.Request.Announced {
		wanted[a.File] = true
	}
	return slices.DeleteFunc(files, func(f clowder.File) bool { return !wanted[f.ID] })
}
