package request

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/pipeline/handover"
	"github.com/ncsa/clowder-ray/internal/pipeline/listing"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Models are the models that requests are about.
type Models struct {
	Platform Platform
	Records  Records
	Registry *registry.Registry
	Volume   volume.Volume
	Handover *handover.Handover
	Statuses Statuses
	// Version is this program's, for the metadata of datasets.
	Version string
}

// list lists the newest versions of the models of the dataset as statuses, the newest last, and ends with the champions.
func (m *Models) list(ctx context.Context, rec job.Record, wanted string) (stage.Change, error) {
	if err := mayRead(ctx, m.Platform, rec); err != nil {
		return nil, err
	}
	of, err := model.Dataset(m.Platform, rec)
	if err != nil {
		return nil, err
	}
	versions, err := m.Registry.All(of)
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
		champion, err := m.Registry.Champion(of, v.Name)
		champions[v.Name] = ""
		switch {
		case errors.Is(err, registry.ErrUnreadable):
			m.Statuses.Say(rec, err.Error())
		case err != nil:
			return nil, err
		case champion != nil:
			champions[v.Name] = champion.Ref()
		}
	}
	registry.ByAge(shown)
	for _, v := range shown[max(0, len(shown)-listing.Shown):] {
		m.Statuses.Say(rec, listing.Model(v, champions[v.Name] == v.Ref()))
	}
	return answered(listing.Models(shown, champions)), nil
}

// chooseVersion finds the version of the dataset that is to be promoted, if the user may. It is remembered before anything is
// done, as the run of another request is.
func (m *Models) chooseVersion(ctx context.Context, rec job.Record, settings job.Settings) (stage.Change, error) {
	of, err := model.Dataset(m.Platform, rec)
	if err != nil {
		return nil, stage.BadInput(err)
	}
	v, err := m.Registry.Find(of, settings.Run, func(string) (bool, error) { return false, nil })
	if err != nil {
		return nil, stage.BadInput(err)
	}
	maker, err := m.Records.Get(ctx, v.Run)
	if errors.Is(err, job.ErrNotFound) {
		maker, err = job.Record{Run: v.Run}, nil // its record was removed: editors of the dataset may still promote
	}
	if err != nil {
		return nil, err
	}
	if _, err := m.Platform.CanManage(ctx, rec, maker); err != nil {
		return nil, stage.BadInput(err)
	}
	return chosen(v, settings, job.Staged)
}

// chosen remembers the version that a request is about, and takes the request to its next state.
func chosen(v registry.Version, settings job.Settings, next job.State) (stage.Change, error) {
	doc, err := model.Encode(&v)
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
func (m *Models) promote(ctx context.Context, rec job.Record) (stage.Change, error) {
	v, err := model.Of(rec)
	if err != nil {
		return nil, err
	}
	of, err := model.Dataset(m.Platform, rec)
	if err != nil {
		return nil, err
	}
	err = model.Promote(m.Registry, of, *v, func(content map[string]any) error {
		content["run"], content["job_id"], content["version"] = rec.Run, rec.Request.JobID, m.Version
		return m.Platform.Note(ctx, rec, content, m.Handover.Ledger(ctx, rec))
	})
	if err != nil {
		return nil, err
	}
	return answered(fmt.Sprintf("%s is now the champion: predictions with %s@champion use it", v.Ref(), v.Name)), nil
}

// chooseExport finds the model that is to be put into the dataset: one of its own, or one of a dataset that the user may read.
func (m *Models) chooseExport(ctx context.Context, rec job.Record, settings job.Settings) (stage.Change, error) {
	if err := mayRead(ctx, m.Platform, rec); err != nil {
		return nil, stage.BadInput(err)
	}
	of, err := model.Dataset(m.Platform, rec)
	if err != nil {
		return nil, stage.BadInput(err)
	}
	v, err := m.Registry.Find(of, settings.Run, func(dataset string) (bool, error) {
		return m.Platform.MayRead(ctx, rec, dataset)
	})
	if err != nil {
		return nil, stage.BadInput(err)
	}
	m.Statuses.Remark(rec, fmt.Sprintf("Exporting model %s from run %s", v.Ref(), v.Run))
	return chosen(v, settings, job.Collected)
}

// Export puts the chosen model as model.zip into the dataset.
func (m *Models) Export(ctx context.Context, rec job.Record) (stage.Change, error) {
	v, err := model.Of(rec)
	if err != nil {
		return nil, err
	}
	stored, err := model.Stored(m.Registry, *v)
	if err != nil {
		return nil, err
	}
	artifacts, err := stored.Build(ctx, m.Volume.Deliverables(rec.Run))
	if err != nil {
		return nil, err
	}
	crash.At(crash.Built)
	d := platform.Delivery{Folders: stored.Folder(rec.Run, rec.Created), Artifacts: artifacts, Content: m.about(rec, v, "export")}
	d.Content["folder"] = strings.Join(d.Folders, "/")
	return m.Handover.Deliver(ctx, rec, d, false, handover.Done(func(where string) string {
		return fmt.Sprintf("The model %s (%s) is now in this dataset. %s", v.Ref(), text.Bytes(artifacts[0].Size), where)
	}))
}

// about is what the metadata of the dataset says of a request about a model.
func (m *Models) about(rec job.Record, v *registry.Version, kind string) map[string]any {
	content := model.Note(v, kind)
	content["run"], content["job_id"], content["version"] = rec.Run, rec.Request.JobID, m.Version
	return content
}
