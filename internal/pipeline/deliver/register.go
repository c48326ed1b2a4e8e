package deliver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
)

// outModel is where the trainer leaves the model, relative to the run folder.
const outModel = "out/model/"

// register makes a version of the model that a training made, and returns the model that the record of the job names from then on. A
// prediction and a check make none, so the record keeps the model that it has, nil for none.
func (d *Deliverer) register(ctx context.Context, rec job.Record, r *results.Result) (*registry.Version, error) {
	if r.Kind != results.ResultTraining {
		v, err := model.Of(rec)
		if err == nil && v != nil && r.Prediction != nil {
			err = d.predicted(rec, v, r)
		}
		return v, err
	}
	if err := d.noteFinished(ctx, rec); err != nil {
		return nil, err
	}
	of, err := model.Dataset(d.Platform, rec)
	if err != nil {
		return nil, err
	}
	v := newVersion(rec, r)
	v.Clowder = of.Clowder
	from := d.Volume.Run(rec.Run).In(strings.TrimSuffix(outModel, "/"))
	v, err = d.Registry.Register(ctx, v, from, func(champion *registry.Version) (bool, string) {
		return judge(r, rec.Created, champion)
	})
	if err != nil {
		return nil, err
	}
	if !d.Temporary {
		title := ""
		if v.Won() {
			title = ", the new champion"
		}
		d.Statuses.Remark(rec, fmt.Sprintf("Registered as %s%s: %s", v.Ref(), title, v.Why))
	}
	return &v, d.compare(of, rec, &v, r, d.byID(rec, r))
}

// noteFinished writes that the attempt has succeeded, where that was to wait: from here on the job can no longer be cancelled.
func (d *Deliverer) noteFinished(ctx context.Context, rec job.Record) error {
	if !stage.SuccessMayWait(rec) {
		return nil
	}
	_, err := d.Records.Amend(ctx, rec, func(r *job.Record) error {
		if r.CancelledBy != "" {
			return job.Later(0, errors.New("the job was cancelled"))
		}
		if r.State != job.Finished {
			r.Advance(job.Finished)
		}
		return nil
	})
	return err
}

// newVersion is what the registry is to keep of a training.
func newVersion(rec job.Record, r *results.Result) registry.Version {
	v := registry.Version{
		Name: cmp.Or(r.Setting("register_as"), rec.Request.Name), Run: rec.Run, DatasetID: rec.Request.DatasetID, DatasetName: rec.Request.Name,
		Task: r.Task, Kind: r.Model.Kind, Base: r.Model.Base, Labels: r.Model.Labels, Metric: r.Metric,
		SplitSHA256: r.Data.SplitSHA256, Created: rec.Created, WeightsSHA256: r.Model.WeightsSHA256,
	}
	if len(rec.Settings.LabelFrom) <= registry.MaxLabelFrom {
		v.LabelFrom = rec.Settings.LabelFrom
	}
	m := r.Named(r.Metric)
	v.MetricTitle, v.MetricDirection, v.MetricUnit = m.Title, string(m.Direction), m.Unit
	if s, ok := r.Metrics.Test[r.Metric]; ok {
		v.Test = &registry.Score{Value: s.Value, Low: s.Low, High: s.High, N: s.N}
	}
	for _, o := range r.Outputs {
		if path, ok := strings.CutPrefix(o.Path, outModel); ok {
			v.Files = append(v.Files, registry.File{Path: path, Size: o.Size, SHA256: o.SHA256})
		}
	}
	return v
}

// judge decides whether the model of a training becomes the champion, as make_champion says. Scores are compared on the same
// test rows only: those on which the trainer measured the champion too. What a run that was accepted later has made is not
// replaced by a late result because the form said so.
func judge(r *results.Result, accepted time.Time, champion *registry.Version) (wins bool, why string) {
	mine, tested := r.Metrics.Test[r.Metric]
	measured := r.Champion
	switch mode := r.Setting("make_champion"); {
	case mode == "no":
		return false, "make_champion says no"
	case mode == "yes" && (champion == nil || !champion.Created.After(accepted)):
		return true, "make_champion says yes"
	case champion == nil:
		return true, "it is the first version"
	case !champion.Known():
		return false, "the current champion cannot be read: ask the administrator, or promote a version"
	}
	stays := champion.Ref() + " remains the champion because "
	switch {
	case r.Setting("make_champion") == "yes":
		return false, stays + "it was made by a later run"
	case measured == nil || measured.Run != champion.Run:
		return false, stays + "the two models were not tested on the same rows"
	case !measured.Comparable:
		return false, stays + "the two models cannot be compared: " + cmp.Or(strings.TrimSuffix(measured.Why, "."), "their tasks differ")
	}
	theirs, known := measured.Test[r.Metric]
	if !tested || !known {
		return false, stays + "there are no test rows for a comparison"
	}
	wins = r.Named(r.Metric).IsBetter(mine.Value, theirs.Value)
	verb := "remains the champion with"
	if wins {
		verb = "was the champion with"
	}
	return wins, fmt.Sprintf("%s %s %s %.3f against %.3f on the same test rows", champion.Ref(), verb, r.Named(r.Metric).Words(), theirs.Value, mine.Value)
}

// modelVersion is what the deliverables say of the version that a training made; v is the model of the record, nil for none.
func modelVersion(rec job.Record, v *registry.Version) manifest.ModelVersion {
	if v == nil || v.Run != rec.Run {
		return manifest.ModelVersion{}
	}
	return manifest.ModelVersion{Name: v.Name, Version: v.Version, Champion: v.Best, BestSoFar: v.Won()}
}
