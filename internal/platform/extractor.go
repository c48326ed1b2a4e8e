package platform

import (
	"fmt"
	"slices"

	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/job"
)

// Kind says what the jobs of an extractor do; spec.json carries it.
type Kind string

// The kinds of jobs. One of kind Runs is a request about another job and never meets Ray.
const (
	Train   Kind = "train"
	Predict Kind = "predict"
	Script  Kind = "script"
	Runs    Kind = "runs"
)

// Noun is what such a job is to its user.
func (k Kind) Noun() string {
	switch k {
	case Predict:
		return "prediction"
	case Script:
		return "script"
	case Runs:
		return "request"
	default:
		return "training"
	}
}

// Keeps is what a job of this kind keeps when it is asked to stop early, empty for nothing.
func (k Kind) Keeps() string {
	switch k {
	case Train:
		return "the best model so far"
	case Script:
		return "everything that the script has saved"
	default:
		return ""
	}
}

// Extractor is one extractor of the service, as Clowder lists it: a form, a queue, and what becomes of its jobs.
type Extractor struct {
	Kind Kind
	Info *form.Info
	// Queue is where its jobs come from; Clowder knows the extractor by this name.
	Queue string
	// Automatic says that its messages announce new files of datasets, and that nobody submits to it.
	Automatic bool
}

// Name is how Clowder knows the extractor.
func (e Extractor) Name() string { return e.Info.RegisteredName(e.Queue) }

// Extractors are all extractors of one service, the one that trains first.
type Extractors []Extractor

// Of returns the extractor that a request was sent to. Records from the time of one extractor name none; they are the
// first one's.
func (all Extractors) Of(req job.Request) Extractor {
	if i := slices.IndexFunc(all, func(e Extractor) bool { return e.Info.Name == req.Extractor }); i >= 0 {
		return all[i]
	}
	// Automatic runs may have been switched off since.
	if i := slices.IndexFunc(all, func(e Extractor) bool { return e.Kind == Predict && !e.Automatic }); i >= 0 && len(req.Announced) > 0 {
		return all[i]
	}
	return all[0]
}

// Names are how Clowder knows them.
func (all Extractors) Names() []string {
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Name()
	}
	return names
}

// Stop asks a running training to end early and to keep its best model, and a running script to end and to keep what it has saved. A
// prediction has no such half.
func (all Extractors) Stop(r *job.Record, by string) error {
	if kind := all.Of(r.Request).Kind; kind.Keeps() == "" {
		return job.Permanent(fmt.Errorf("run %s is a %s, which has nothing to keep before it ends: cancel it instead", r.Run, kind.Noun()))
	}
	return r.Stop(by)
}
