// Package staging takes a job from accepted to staged: it checks what the user filled in, chooses the model of a prediction, decides what a
// script may do, and brings the dataset onto the shared volume.
//
// So a user learns of a mistake before the job waits for Ray. A stage that is cut short begins again with an empty run folder: nothing of it
// is visible outside. The package starts nothing on Ray.
package staging

import (
	"context"
	"errors"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
	"github.com/ncsa/clowder-ray/internal/pipeline/objects"
	"github.com/ncsa/clowder-ray/internal/pipeline/page"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/script"
)

// Platform is where datasets lie.
type Platform interface {
	model.Clowders
	// Stage lays the files of the job's dataset into dir and returns them; say takes sentences for the user.
	Stage(ctx context.Context, rec job.Record, dir disk.Folder, say func(string)) ([]job.Input, error)
	// News returns which of the announced files an automatic run is to read, or why there are none.
	News(ctx context.Context, rec job.Record, dir disk.Folder) (files []job.Announced, reason string, err error)
	// User is the e-mail address of the user of the job.
	User(ctx context.Context, rec job.Record) (string, error)
	// MayRead reports whether the user of the job may read another dataset, and so use the models that were made from it.
	MayRead(ctx context.Context, rec job.Record, dataset string) (bool, error)
}

// Records is the store, as far as staging writes before the job is staged.
type Records interface {
	Amend(ctx context.Context, rec job.Record, fn func(*job.Record) error) (job.Record, error)
}

// Statuses tells users what is done and found.
type Statuses interface {
	Remark(rec job.Record, sentence string)
	SayPassing(rec job.Record, sentence string)
}

// Stager stages jobs. Its calls may be repeated.
type Stager struct {
	Platform   Platform
	Records    Records
	Extractors platform.Extractors
	Volume     volume.Volume
	Registry   *registry.Registry
	Objects    *objects.Mover
	Pages      *page.Pages
	Statuses   Statuses
	Scripts    *script.Preparer
	// Isolates reports whether the script of a job with these settings runs in pods of its own.
	Isolates func(settings job.Settings) (bool, error)
	// NoteUsers: the record of a job names its user.
	NoteUsers bool
}

// StageInputs checks what the user filled in and brings the dataset onto the shared volume.
func (s *Stager) StageInputs(ctx context.Context, rec job.Record) (stage.Change, error) {
	if rec.Request.Kind == job.File && rec.Request.DatasetID == "" {
		return nil, stage.BadInput(job.Permanent(errors.New("this file is in no dataset, so its results would have no place: add it to a dataset, then submit it again")))
	}
	rec, err := s.noteUser(ctx, rec)
	if err != nil {
		return nil, err
	}
	e := s.Extractors.Of(rec.Request)
	settings, err := e.Settings(rec.Request.Parameters, func(warning string) { s.Statuses.Remark(rec, warning) })
	if err != nil {
		return nil, stage.BadInput(err)
	}
	joined := len(rec.Request.Announced)
	if joined > 0 {
		end, err := s.chooseNews(ctx, &rec, e, &settings)
		if end != nil || err != nil {
			return unlessJoined(joined, end), stage.BadInput(err)
		}
	}
	chosen, err := s.chooseModel(ctx, rec, settings)
	if err != nil {
		return nil, stage.BadInput(err)
	}
	allowed, err := s.allowScript(ctx, rec, &settings)
	if err != nil {
		return nil, stage.BadInput(err)
	}
	if err := s.Volume.ResetRun(rec.Run); err != nil {
		return nil, err
	}
	rec.Settings = settings
	inputs, err := s.Platform.Stage(ctx, rec, s.Volume.Inputs(rec.Run), func(text string) { s.Statuses.SayPassing(rec, text) })
	if err != nil {
		return nil, stage.BadInput(err)
	}
	fetched, err := s.Objects.Stage(ctx, rec, inputs, func(text string) { s.Statuses.SayPassing(rec, text) })
	if err != nil {
		return nil, stage.BadInput(err)
	}
	if inputs = append(inputs, fetched...); len(inputs) == 0 {
		return nil, stage.BadInput(job.Permanent(errors.New(emptyDataset(rec.Kind))))
	}
	script, err := s.prepareScript(ctx, rec, &settings, allowed, inputs)
	if err != nil {
		return nil, stage.BadInput(err)
	}
	s.Pages.Show(ctx, rec)
	crash.At(crash.Downloaded)
	sum, err := s.Volume.WriteInputs(rec.Run, inputs)
	if err != nil {
		return nil, err
	}
	return unlessJoined(joined, func(r *job.Record) error {
		r.Settings, r.Model, r.InputsSHA256, r.Script = settings, chosen, sum, script
		if rec.Kind == job.Train {
			named, _ := settings.Values["config_file"].(string)
			r.SettingsFile = job.SettingsFileOf(inputs, named)
		}
		r.Request.Announced = rec.Request.Announced
		r.Advance(job.Staged)
		return nil
	}), nil
}

// noteUser writes down whose job it is, where people look for their own runs.
func (s *Stager) noteUser(ctx context.Context, rec job.Record) (job.Record, error) {
	if !s.NoteUsers || rec.User != "" {
		return rec, nil
	}
	user, err := s.Platform.User(ctx, rec)
	if err != nil {
		return rec, err
	}
	return s.Records.Amend(ctx, rec, func(r *job.Record) error { r.User = user; return nil })
}

func emptyDataset(kind job.Work) string {
	if kind == job.Script {
		return "the dataset is empty: add the script and its data, then submit again"
	}
	return "the dataset is empty: add a CSV, TSV or JSONL file, or images in a folder for each label, then submit again"
}
