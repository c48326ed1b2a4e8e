package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// listModels lists the newest versions of the models of the dataset as statuses, the newest last, and ends with the champions.
func (p *Pipeline) listModels(ctx context.Context, rec job.Record, wanted string) (change, error) {
	if err := p.checkMayRead(ctx, rec); err != nil {
		return nil, err
	}
	of, err := p.dataset(rec)
	if err != nil {
		return nil, err
	}
	versions, err := p.registry.All(of)
	if err != nil {
		return nil, err
	}
	var shown []registry.Version
	champions := map[string]string{}
	for _, v := range versions {
		if wanted != "" && wanted != v.Run && registry.Slug(wanted) != v.Name {
			continue
		}
		shown = append(shown, v)
		if _, known := champions[v.Name]; known {
			continue
		}
		champion, err := p.registry.Champion(of, v.Name)
		champions[v.Name] = ""
		switch {
		case errors.Is(err, registry.ErrUnreadable):
			p.say(rec, err.Error())
		case err != nil:
			return nil, err
		case champion != nil:
			champions[v.Name] = champion.Ref()
		}
	}
	registry.ByAge(shown)
	for _, v := range shown[max(0, len(shown)-listed):] {
		p.say(rec, modelLine(v, champions[v.Name] == v.Ref()))
	}
	return answered(modelTally(shown, champions)), nil
}

// modelLine describes a version and its test score in one line.
func modelLine(v registry.Version, champion bool) string {
	line := v.Ref()
	if champion {
		line += ", the champion"
	}
	line += ": "
	switch s := v.Test; {
	case s == nil:
		line += "without test rows"
	case s.Low != nil && s.High != nil:
		line += fmt.Sprintf("%s %.3f (%.3f to %.3f) on %s", results.MetricName(v.Metric), s.Value, *s.Low, *s.High, text.Count(s.N, "test row"))
	default:
		line += fmt.Sprintf("%s %.3f on %s", results.MetricName(v.Metric), s.Value, text.Count(s.N, "test row"))
	}
	return fmt.Sprintf("%s, %s from %s, made %s by run %s", line, v.Task, v.Base, v.Created.UTC().Format("2006-01-02 15:04 UTC"), v.Run)
}

// modelTally counts versions and names the champions: "3 versions in this dataset; champion: reviews/2".
func modelTally(versions []registry.Version, champions map[string]string) string {
	if len(versions) == 0 {
		return "This dataset has no such model"
	}
	text := text.Count(len(versions), "version") + " in this dataset"
	if len(versions) > listed {
		text += fmt.Sprintf("; the newest %d are listed", listed)
	}
	var names []string
	for _, v := range versions {
		if ref := champions[v.Name]; ref != "" {
			names = append(names, ref)
			champions[v.Name] = ""
		}
	}
	switch len(names) {
	case 0:
		return text + "; no champion"
	case 1:
		return text + "; champion: " + names[0]
	default:
		return text + "; champions: " + strings.Join(names, ", ")
	}
}

// chooseVersion finds the version of the dataset that is to be promoted, if the user may. It is remembered before anything is
// done, as the run of another request is.
func (p *Pipeline) chooseVersion(ctx context.Context, rec job.Record, settings job.Settings) (change, error) {
	of, err := p.dataset(rec)
	if err != nil {
		return nil, badInput(err)
	}
	v, err := p.registry.Find(of, settings.Run, func(string) (bool, error) { return false, nil })
	if err != nil {
		return nil, badInput(err)
	}
	maker, err := p.store.Get(ctx, v.Run)
	if errors.Is(err, job.ErrNotFound) {
		maker, err = job.Record{Run: v.Run}, nil // its record was removed: editors of the dataset may still promote
	}
	if err != nil {
		return nil, err
	}
	if _, err := p.platform.CanManage(ctx, rec, maker); err != nil {
		return nil, badInput(err)
	}
	return chosen(v, settings, job.Staged)
}

// chosen remembers the version that a request is about, and takes the request to its next state.
func chosen(v registry.Version, settings job.Settings, next job.State) (change, error) {
	doc, err := encodeModel(&v)
	if err != nil {
		return nil, err
	}
	return func(r *job.Record) error {
		r.Settings, r.Model = settings, doc
		r.Advance(next)
		return nil
	}, nil
}

// promote makes the chosen version the champion of its name, and says so on the dataset.
func (p *Pipeline) promote(ctx context.Context, rec job.Record) (change, error) {
	v, err := modelOf(rec)
	if err != nil {
		return nil, err
	}
	of, err := p.dataset(rec)
	if err != nil {
		return nil, err
	}
	err = Promote(p.registry, of, *v, func(content map[string]any) error {
		content["run"], content["job_id"], content["version"] = rec.Run, rec.Request.JobID, p.cfg.Version
		return p.platform.Note(ctx, rec, content, p.ledger(ctx, rec))
	})
	if err != nil {
		return nil, err
	}
	return answered(fmt.Sprintf("%s is now the champion: predictions with %s@champion use it", v.Ref(), v.Name)), nil
}

// NotNotedError says that a version is the champion, but that its dataset does not say so. Promoting it again adds what is missing.
type NotNotedError struct {
	Ref   string
	Cause error
}

func (e *NotNotedError) Error() string {
	return e.Ref + " is the champion now, but the note on the dataset was not made: " + e.Cause.Error()
}

// Unwrap returns why the note was not made, which also says whether it is worth another try.
func (e *NotNotedError) Unwrap() error { return e.Cause }

// Promote makes a version the champion of its name, and then lets note say so where people see it. Requests, the command line and the studio
// promote by it. It may be repeated: note must look for what an earlier try has said. If note fails, the error is a NotNotedError.
func Promote(models *registry.Registry, of registry.Dataset, v registry.Version, note func(content map[string]any) error) error {
	if _, err := models.Promote(of, v.Name, v.Version); err != nil {
		return err
	}
	content := noteOfModel(&v, "promotion")
	content["champion"] = v.Ref()
	if err := note(content); err != nil {
		return &NotNotedError{v.Ref(), err}
	}
	return nil
}

// noteOfModel is what the metadata of a dataset says of a version.
func noteOfModel(v *registry.Version, kind string) map[string]any {
	content := map[string]any{"kind": kind, "name": v.Name, "name_version": v.Version, "model_run": v.Run}
	if v.Test != nil {
		content["metric"], content["test_value"] = v.Metric, v.Test.Value
	}
	return content
}

// aboutModel is what the metadata of the dataset says of a request about a model.
func (p *Pipeline) aboutModel(rec job.Record, v *registry.Version, kind string) map[string]any {
	content := noteOfModel(v, kind)
	content["run"], content["job_id"], content["version"] = rec.Run, rec.Request.JobID, p.cfg.Version
	return content
}
