package staging

import (
	"context"
	"fmt"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/text"
)

// chooseNews decides what an automatic run reads and with which model, and puts both into rec and settings. If it has nothing to do, it
// returns the end of the job.
func (s *Stager) chooseNews(ctx context.Context, rec *job.Record, e platform.Extractor, settings *job.Settings) (end stage.Change, err error) {
	if !e.Automatic {
		return skip("Automatic runs were switched off: to predict the files, submit the dataset to " + s.Extractors.Predictor()), nil
	}
	if err := s.Volume.ResetRun(rec.Run); err != nil {
		return nil, err
	}
	files, reason, err := s.Platform.News(ctx, *rec, s.Volume.Inputs(rec.Run))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return skip(reason), nil
	}
	of, err := model.Dataset(s.Platform, *rec)
	if err != nil {
		return nil, err
	}
	newest, err := s.Registry.Find(of, "", nil)
	if kind, _ := job.Classify(err); err != nil && kind == job.KindPermanent {
		return skip(text.Capital(err.Error())), nil
	}
	if err != nil {
		return nil, err
	}
	settings.Model = newest.Ref()
	champion, err := s.Registry.Champion(of, newest.Name)
	if err != nil {
		return nil, err
	}
	if champion != nil {
		settings.Model = champion.Ref()
	}
	rec.Request.Announced = files
	s.Statuses.Remark(*rec, fmt.Sprintf("Predicting %s of the dataset", text.Count(len(files), "new file")))
	return nil, nil
}

// unlessJoined applies a change, unless more files have joined an automatic run since it was read with n of them: then it waits again.
func unlessJoined(n int, apply stage.Change) stage.Change {
	return func(r *job.Record) error {
		if len(r.Request.Announced) != n {
			return nil
		}
		return apply(r)
	}
}
