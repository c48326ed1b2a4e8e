package platform

import (
	"slices"

	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/job"
)

// Extractor is one extractor of the service, as Clowder lists it: a form, a queue, and what becomes of its jobs.
type Extractor struct {
	Kind job.Work
	Info *form.Info
	// Queue is where its jobs come from; Clowder knows the extractor by this name.
	Queue string
	// Automatic says that its messages announce new files of datasets, and that nobody submits to it.
	Automatic bool
}

// Name is how Clowder knows the extractor.
func (e Extractor) Name() string { return e.Info.RegisteredName(e.Queue) }

// Settings checks what a user filled in. remark is called with a warning for each parameter that the form does not have.
func (e Extractor) Settings(parameters map[string]any, remark func(warning string)) (job.Settings, error) {
	values, warnings, err := e.Info.Parameters(parameters)
	if err != nil {
		return job.Settings{}, err
	}
	for _, w := range warnings {
		remark(w)
	}
	return job.NewSettings(values), nil
}

// Extractors are all extractors of one service, the one that trains first.
type Extractors []Extractor

// Of returns the extractor that a request was sent to. Records from the time of one extractor name none; they are the
// first one's.
func (all Extractors) Of(req job.Request) Extractor {
	if i := slices.IndexFunc(all, func(e Extractor) bool { return e.Info.Name == req.Extractor }); i >= 0 {
		return all[i]
	}
	// Automatic runs may have been switched off since.
	if i := slices.IndexFunc(all, func(e Extractor) bool { return e.Kind == job.Predict && !e.Automatic }); i >= 0 && len(req.Announced) > 0 {
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

// Predictor is how Clowder knows the extractor that predicts what a person submits.
func (all Extractors) Predictor() string {
	return all.Of(job.Request{Announced: make([]job.Announced, 1)}).Name()
}
