package studio

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/ncsa/clowder-ray/internal/answer"
	"github.com/ncsa/clowder-ray/internal/answer/manifests"
	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
	"github.com/ncsa/clowder-ray/internal/sidecar"
	"github.com/ncsa/clowder-ray/internal/studio/models"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// answers returns the client of the process that gives single answers: the one of PREDICTOR_URL, else one that the service starts where it
// has a Python.
func (p *Parts) answers(set *Settings) *answer.Client {
	if set.Predictor != "" {
		return answer.NewClient(sidecar.NewRemote(set.Predictor, "PREDICTOR_TOKEN_FILE", set.PredictorToken))
	}
	return answer.NewClient(answer.NewLocal(answer.LocalConfig{
		Python: p.Python, Trainer: p.Trainer, Registry: p.Volume.Registry().Path(), Log: p.Log.Named("answers"),
	}))
}

// models returns the section about models.
func (p *Parts) models(site *web.Site, set *Settings, rights web.Rights, answers *answer.Client) *models.Section {
	found := registry.New(p.Volume.Registry())
	return models.New(site, models.Parts{
		Registry: found, Answers: answers, Rights: rights, Commands: modelCommands{p, found}, Clowder: p.Clowder.As("").Address(),
		Starter: func(ctx context.Context, run string) string {
			rec, err := p.Store.Get(ctx, run)
			if err != nil {
				return "" // the record was removed: editors may still promote
			}
			return rec.User
		},
		MinConfidence: p.minConfidence,
		Result:        p.result,
		WriteZip: func(ctx context.Context, v registry.Version, w http.ResponseWriter) error {
			stored, err := model.Stored(found, v)
			if err != nil {
				return err
			}
			return stored.Write(ctx, w)
		},
		Manifest: func(v registry.Version, as string) (string, error) {
			sum, err := found.Digest(v)
			if err != nil {
				return "", err
			}
			return manifests.Write(as, v, sum, manifests.Options{})
		},
		AnswersPerMinute: cmp.Or(set.AnswersPerMinute, defaultAnswers),
	})
}

const (
	defaultAnswers = 60
	// defaultSure is below what probability of its first class an answer is called unsure where nobody has chosen.
	defaultSure = 0.6
	// looked is how many records of a dataset are looked through for a prediction.
	looked = 100
)

// minConfidence is the option min_confidence of the newest prediction of a dataset that has one.
func (p *Parts) minConfidence(ctx context.Context, dataset string) float64 {
	records, err := p.Store.List(ctx, job.Query{Dataset: dataset, Limit: looked})
	if err != nil {
		return defaultSure
	}
	for _, rec := range slices.Backward(records) {
		if e, ok := p.extractor(rec.Request.Extractor); !ok || e.Kind != job.Predict || !p.ours(rec) {
			continue
		}
		if chosen, ok := rec.Request.Parameters["min_confidence"].(float64); ok && chosen >= 0 && chosen <= 1 {
			return chosen
		}
	}
	return defaultSure
}

// extractor is the extractor that a request was sent to.
func (p *Parts) extractor(name string) (platform.Extractor, bool) {
	i := slices.IndexFunc(p.Extractors, func(e platform.Extractor) bool { return e.Info.Name == name })
	if i < 0 {
		return platform.Extractor{}, false
	}
	return p.Extractors[i], true
}

// modelCommands applies the commands of visitors to models.
type modelCommands struct {
	parts    *Parts
	registry *registry.Registry
}

// Promote makes the version the champion, and notes it on the dataset as the extractor that manages runs does, unless the dataset says so
// already: an earlier try may have come that far.
func (c modelCommands) Promote(ctx context.Context, by *web.Visitor, v registry.Version) error {
	of := registry.Dataset{Clowder: c.parts.Clowder.As("").Address(), ID: v.DatasetID}
	err := model.Promote(c.registry, of, v, func(content map[string]any) error {
		have, err := by.Clowder.Metadata(ctx, v.DatasetID)
		if err != nil || championNoted(have, v.Name) == v.Ref() {
			return err
		}
		e := c.manager()
		content["run"], content["version"] = v.Run, c.parts.Version
		_, err = by.Clowder.AddMetadata(ctx, v.DatasetID, clowder.Metadata{Content: content, Contexts: []any{delivery.MetadataContext(e.Name())}, Listener: e.Name(), Version: e.Info.Version})
		return err
	})
	if missing, ok := errors.AsType[*model.NotNotedError](err); ok {
		return &web.Problem{
			Type: "not-noted", Title: "The champion has changed, but Clowder does not say so yet", Status: http.StatusBadGateway,
			Detail: missing.Ref + " is the champion now, and predictions that name the champion use it. The note on the dataset in Clowder is missing: " + web.AsProblem(missing.Cause).Detail,
			Do:     "Go back and press Make champion again in a minute. Only the note is added then.",
		}
	}
	return err
}

// championNoted is the champion of a model as the newest entry about it names it, whichever extractor made the entry; empty for none.
func championNoted(entries []clowder.Metadata, name string) string {
	champion, newest := "", time.Time{}
	for _, m := range entries {
		named, ok := m.Content["champion"].(string)
		if ok && m.Content["name"] == name && !m.Created.Before(newest) {
			champion, newest = named, m.Created
		}
	}
	return champion
}

// Export submits the dataset to the extractor that manages runs, which puts the model into it.
func (c modelCommands) Export(ctx context.Context, by *web.Visitor, v registry.Version) error {
	_, err := by.Clowder.Submit(ctx, v.DatasetID, c.manager().Name(), map[string]any{"action": "export", "run": v.Ref()})
	return err
}

// manager is the extractor that manages runs.
func (c modelCommands) manager() platform.Extractor {
	for _, e := range c.parts.Extractors {
		if e.Kind == job.Runs {
			return e
		}
	}
	return c.parts.Extractors[0]
}
