// Package staging takes a job from accepted to staged: it checks what the user filled in, chooses the model of a prediction, decides what a
// script may do, and brings the dataset onto the shared volume.
//
// So a user learns of a mistake before the job waits for Ray. A stage that is cut short begins again with an empty run folder: nothing of it
// is visible outside. The package starts nothing on Ray.
package staging

import (
	"context"
	"errors"
	"fmt"

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
	"github.com/ncsa/clowder-ray/internal/text"
)

// Platform is where datasets lie.
type Platform interface {
	model.Clowders
	// Stage puts the files of the job's dataset into dir and returns them.
	Stage(ctx context.Context, rec job.Record, dir disk.Folder, say platform.Say) ([]job.Input, []job.NotRead, error)
	// StageMany adds the files of the other datasets that the settings name; see [platform.Platform].
	StageMany(ctx context.Context, rec job.Record, own []job.Input, room platform.Room, say platform.Say) ([]job.Input, []job.NotRead, error)
	// Sender tells who sent the message of a job about a single file.
	Sender(ctx context.Context, rec job.Record) (job.Sender, error)
	// Label gives the staged files the labels that their metadata holds, where the settings of a training ask for that.
	Label(ctx context.Context, rec job.Record, inputs []job.Input, say func(string)) error
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
	Change(ctx context.Context, run string, fn func(*job.Record) error) (job.Record, error)
	Each(ctx context.Context, q job.Query, fn func(job.Record) error) error
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
	Turns      *Turns
	Places     Places
	Repeats    *Repeats
	// Isolates reports whether the script of a job with these settings runs in pods of its own.
	Isolates func(settings job.Settings) (bool, error)
	// NoteUsers: the record of a job names its user.
	NoteUsers bool
}

// StageInputs checks what the user filled in and brings the dataset onto the shared volume. A job of many datasets may take several turns.
func (s *Stager) StageInputs(ctx context.Context, rec job.Record) (stage.Change, error) {
	joined := len(rec.Request.Announced)
	t, goesOn := s.Turns.take(rec)
	if !goesOn {
		var end stage.Change
		var err error
		if t, end, err = s.begin(ctx, rec); err != nil {
			return nil, err
		} else if end != nil {
			return unlessJoined(joined, end), nil
		}
	}
	inputs, left, err := s.addDatasets(ctx, t)
	if err != nil {
		return nil, stage.BadInput(err)
	}
	t.rec.NotRead = left
	staged, err := s.finish(ctx, t.rec, inputs)
	return unlessJoined(joined, staged), err
}

// begin stages the dataset of the job and decides all that is known then. If the job has nothing to do, it returns its end.
func (s *Stager) begin(ctx context.Context, rec job.Record) (t turn, end stage.Change, err error) {
	if rec.Request.Kind == job.File && rec.Request.DatasetID == "" {
		return t, nil, stage.BadInput(job.Permanent(errors.New("this file is in no dataset, so its results would have no place: add it to a dataset, then submit it again")))
	}
	if rec, err = s.noteUser(ctx, rec); err != nil {
		return t, nil, err
	}
	if rec, end, err = s.Repeats.note(ctx, rec); end != nil || err != nil {
		return t, end, err
	}
	e := s.Extractors.Of(rec.Request)
	if rec.Request.NoParameters {
		s.Statuses.Remark(rec, "No settings came with this job, so those of the dataset's settings file and the defaults count. If you filled in a form, submit again")
	}
	settings, err := e.Settings(rec.Request.Parameters, func(warning string) { s.Statuses.Remark(rec, warning) })
	if err != nil {
		return t, nil, stage.BadInput(err)
	}
	if len(rec.Request.Announced) > 0 {
		if end, err = s.chooseNews(ctx, &rec, e, &settings); end != nil || err != nil {
			return t, end, stage.BadInput(err)
		}
	}
	chosen, err := s.chooseModel(ctx, rec, settings)
	if err != nil {
		return t, nil, stage.BadInput(err)
	}
	allowed, err := s.allowScript(ctx, rec, &settings)
	if err != nil {
		return t, nil, stage.BadInput(err)
	}
	if err := s.Volume.ResetRun(rec.Run); err != nil {
		return t, nil, err
	}
	rec.Settings, rec.Resolved = settings, nil
	inputs, left, err := s.stageFiles(ctx, rec)
	if err != nil {
		return t, nil, stage.BadInput(err)
	}
	if settings, err = e.NameSingle(settings, inputs); err != nil {
		return t, nil, stage.BadInput(err)
	}
	script, err := s.prepareScript(ctx, rec, &settings, allowed, inputs)
	if err != nil {
		return t, nil, stage.BadInput(err)
	}
	rec.Settings = settings
	if err := s.resolve(&rec, e, inputs); err != nil {
		return t, nil, stage.BadInput(err)
	}
	rec.Model, rec.Script = chosen, script
	tellLeft(s.Statuses, rec, left)
	return turn{rec: rec, own: inputs, left: left}, nil, nil
}

// finish writes the list of the inputs of rec, which has all that was decided about it, unless another job has done its work.
func (s *Stager) finish(ctx context.Context, rec job.Record, inputs []job.Input) (stage.Change, error) {
	if end, err := s.Repeats.refuse(ctx, rec, inputs); end != nil || err != nil {
		return end, err
	}
	s.Pages.Show(ctx, rec)
	crash.At(crash.Downloaded)
	sum, err := s.Volume.WriteInputs(rec.Run, inputs)
	if err != nil {
		return nil, err
	}
	return func(r *job.Record) error {
		r.Settings, r.Model, r.InputsSHA256, r.Script, r.NotRead = rec.Settings, rec.Model, sum, rec.Script, rec.NotRead
		r.Resolved, r.SettingsFile = rec.Resolved, rec.SettingsFile
		r.Request.Announced = rec.Request.Announced
		r.Advance(job.Staged)
		return nil
	}, nil
}

// stageFiles brings the files of the dataset and those from object stores onto the volume. The second list has files that are left out.
func (s *Stager) stageFiles(ctx context.Context, rec job.Record) ([]job.Input, []job.NotRead, error) {
	say := s.say(rec)
	inputs, left, err := s.Platform.Stage(ctx, rec, s.Volume.Inputs(rec.Run), say)
	if err != nil {
		return nil, nil, err
	}
	fetched, err := s.Objects.Stage(ctx, rec, inputs, say.Passing)
	if err != nil {
		return nil, nil, err
	}
	if inputs = append(inputs, fetched...); len(inputs) == 0 && rec.Kind != job.Train {
		return nil, nil, job.Permanent(errors.New(emptyDataset(rec.Kind, left)))
	}
	return inputs, left, nil
}

// say takes sentences about a job.
func (s *Stager) say(rec job.Record) platform.Say {
	return platform.Say{
		Passing: func(text string) { s.Statuses.SayPassing(rec, text) },
		Note:    func(text string) { s.Statuses.Remark(rec, text) },
	}
}

// tellLeft says which files of the dataset the job does without.
func tellLeft(said Statuses, rec job.Record, left []job.NotRead) {
	if len(left) > 0 {
		said.Remark(rec, fmt.Sprintf("Left out %s of the dataset: %s. Submit again if the job needs more", text.Count(len(left), "file"), listLeft(left)))
	}
}

func listLeft(left []job.NotRead) string {
	named := make([]string, len(left))
	for i, l := range left {
		named[i] = fmt.Sprintf("%s (%s)", text.Shorten(l.Name, 80), l.Reason)
	}
	return text.ListSome(named, 3, 200)
}

// resolve decides what counts of all sources of the options.
func (s *Stager) resolve(rec *job.Record, e platform.Extractor, inputs []job.Input) error {
	resolved, err := e.Resolve(rec.Settings.Values, inputs, func(in job.Input) (string, error) { return s.Volume.ReadInput(rec.Run, in) })
	if err != nil {
		return err
	}
	if rec.Kind != job.Script {
		if err := platform.Choose(resolved.Values, inputs); err != nil {
			return err
		}
	}
	rec.Resolve(resolved)
	if rec.Kind != job.Train {
		return nil
	}
	chosen, _ := rec.Settings.Values["config_file"].(string)
	rec.SettingsFile = job.SettingsFileOf(inputs, chosen)
	return nil
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

func emptyDataset(kind job.Work, left []job.NotRead) string {
	if len(left) > 0 {
		return "no file of the dataset can be read: " + listLeft(left) + ". Submit again when its files are there"
	}
	if kind == job.Script {
		return "the dataset is empty: add the script and its data, then submit again"
	}
	return "the dataset is empty: add a CSV, TSV or JSONL file, or images in a folder for each label, then submit again"
}
