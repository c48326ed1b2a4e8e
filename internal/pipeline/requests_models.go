package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/pipeline/listing"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/registry"
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
	for _, v := range shown[max(0, len(shown)-listing.Shown):] {
		p.say(rec, listing.Model(v, champions[v.Name] == v.Ref()))
	}
	return answered(listing.Models(shown, champions)), nil
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

// chooseExport finds the model that is to be put into the dataset: one of its own, or one of a dataset that the user may read.
func (p *Pipeline) chooseExport(ctx context.Context, rec job.Record, settings job.Settings) (change, error) {
	if err := p.checkMayRead(ctx, rec); err != nil {
		return nil, badInput(err)
	}
	of, err := p.dataset(rec)
	if err != nil {
		return nil, badInput(err)
	}
	v, err := p.registry.Find(of, settings.Run, func(dataset string) (bool, error) {
		return p.platform.MayRead(ctx, rec, dataset)
	})
	if err != nil {
		return nil, badInput(err)
	}
	p.remark(rec, fmt.Sprintf("Exporting model %s from run %s", v.Ref(), v.Run))
	return chosen(v, settings, job.Collected)
}

// export puts the chosen model as model.zip into the dataset.
func (p *Pipeline) export(ctx context.Context, rec job.Record) (change, error) {
	v, err := modelOf(rec)
	if err != nil {
		return nil, err
	}
	m, err := StoredModel(p.registry, *v)
	if err != nil {
		return nil, err
	}
	artifacts, err := m.Build(ctx, p.cfg.Volume.Deliverables(rec.Run))
	if err != nil {
		return nil, err
	}
	crash.At(crash.Built)
	d := platform.Delivery{Folders: m.Folder(rec.Run, rec.Created), Artifacts: artifacts, Content: p.aboutModel(rec, v, "export")}
	d.Content["folder"] = strings.Join(d.Folders, "/")
	return p.deliver(ctx, rec, d, false, done(func(where string) string {
		return fmt.Sprintf("The model %s (%s) is now in this dataset. %s", v.Ref(), text.Bytes(artifacts[0].Size), where)
	}))
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
