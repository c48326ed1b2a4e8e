package clowder

import (
	"errors"
	"slices"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform/ignore"
)

// readsDataset reports whether a job reads its dataset, and not single files of it.
func readsDataset(rec job.Record) bool {
	return len(rec.Request.Announced) == 0 && rec.Request.Kind != job.File
}

// inputsOf returns the files that a job reads, of those in its dataset: the submitted file, or else all but those that the dataset leaves out
// and the results of earlier runs, which are no data and may be large. The model that a prediction is to be made with is always among them.
func inputsOf(rec job.Record, files []clowder.File, results resultFolders, ignored *ignore.Files, say func(string)) ([]clowder.File, error) {
	if len(rec.Request.Announced) > 0 {
		return announcedOf(rec, files), nil
	}
	left := 0
	inputs := slices.DeleteFunc(files, func(f clowder.File) bool {
		switch {
		case f.ID == rec.Settings.ModelFile && f.ID != "":
			return false
		case !readsDataset(rec):
			return f.ID != rec.Request.ResourceID
		case results.hold(f) || f.Path == ignore.Name:
			return true
		case ignored.Out(f.Path):
			left++
			return true
		default:
			return false
		}
	})
	switch {
	case !readsDataset(rec) && !slices.ContainsFunc(inputs, func(f clowder.File) bool { return f.ID == rec.Request.ResourceID }):
		return nil, job.Permanent(errors.New("the file is no longer in its dataset: add it again, then submit it"))
	case left > 0 && len(inputs) == 0:
		return nil, ignore.ErrAll
	}
	ignore.Tell(left, say)
	return inputs, nil
}

// announcedOf returns the files of an automatic run.
func announcedOf(rec job.Record, files []clowder.File) []clowder.File {
	announced := make(map[string]bool, len(rec.Request.Announced))
	for _, a := range rec.Request.Announced {
		announced[a.File] = true
	}
	return slices.DeleteFunc(files, func(f clowder.File) bool { return !announced[f.ID] })
}

// mostLate is how many files that are still being uploaded a job remembers.
const mostLate = 1000

// lateOf returns the data among files that are still being uploaded.
func lateOf(arriving []clowder.File, results resultFolders, ignored *ignore.Files) []job.NotRead {
	var late []job.NotRead
	for _, f := range arriving {
		if !results.hold(f) && !isIgnored(ignored, f) && len(late) < mostLate {
			late = append(late, job.NotRead{Name: f.Path, Reason: "it was still being uploaded when the run began"})
		}
	}
	return late
}
