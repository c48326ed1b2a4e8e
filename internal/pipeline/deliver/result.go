package deliver

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
)

// result reads what the run left behind. For a script that failed this is what it had saved before, and failure is the sentence that says
// why it failed; otherwise failure is empty.
func (d *Deliverer) result(rec job.Record) (result *results.Result, failure string, err error) {
	result, failed, err := results.Read(d.Volume.Run(rec.Run), rec.Run, rec.Attempt)
	if err == nil && failed != nil {
		failure = failed.Sentence()
		if result, err = d.Volume.ReadPartial(rec, failed); result == nil && err == nil {
			err = job.Permanent(errors.New(failure))
		}
		return result, failure, undelivered(failure, err)
	}
	if err == nil && (result.Kind == results.ResultScript) != (rec.Kind == job.Script) {
		// A script must not make a model that others load: it could write this file.
		err = job.Permanent(fmt.Errorf("the %s left a result of another kind: ask the administrator which other program writes to this volume", rec.Kind.Noun()))
	}
	if err != nil || result.Prediction == nil {
		return result, "", err
	}
	inputs, err := d.Volume.ReadInputs(rec)
	if err != nil {
		return nil, "", err
	}
	keepStaged(result.Prediction, inputs)
	return result, "", nil
}

// keepStaged drops the ids of files that were not staged for this job: an answer is added to the file with its id, and the user may
// edit more files than those of the dataset. The others get the version of the file that was read.
func keepStaged(made *results.Prediction, inputs []job.Input) {
	versions := make(map[string]int, len(inputs))
	for _, in := range inputs {
		versions[in.ID] = in.Version
	}
	for i, a := range made.PerFile {
		version, staged := versions[a.ID]
		if !staged {
			made.PerFile[i].ID = ""
		}
		made.PerFile[i].Version = version
	}
}

// undelivered says first why a script failed, and then why its files are not delivered. It leaves all other errors as they are.
func undelivered(failure string, err error) error {
	if failure == "" || err == nil || strings.HasPrefix(err.Error(), failure) {
		return err
	}
	return fmt.Errorf("%s. Its files could not be delivered: %w", failure, err)
}
