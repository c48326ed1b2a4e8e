package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/script"
)

// specSchema is the version of the contract with the trainer.
const specSchema = 2

// Spec is spec.json: what an attempt is to do. trainer/schema/spec.schema.json describes it.
type Spec struct {
	Schema  int         `json:"schema"`
	Kind    job.Work    `json:"kind"`
	Run     string      `json:"run"`
	Attempt int         `json:"attempt"`
	Dataset SpecDataset `json:"dataset"`
	// Parameters are what the user chose in the form, Defaults all that the form has where nobody chose. The trainer brings
	// them together with the settings that it finds in the files of the dataset.
	Parameters map[string]any `json:"parameters"`
	Defaults   map[string]any `json:"defaults"`
	Inputs     []job.Input    `json:"inputs"`
	// Model is the one to predict with; Champion the one to compare a new one with on the same test rows.
	Model    *SpecModel `json:"model,omitempty"`
	Champion *SpecModel `json:"champion,omitempty"`
	// Script is what a script of a user may do, see script.Spec.
	Script json.RawMessage `json:"script,omitempty"`
}

// SpecDataset names the dataset for the model card and the report.
type SpecDataset struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// SpecModel is a registered model. Path is its folder, relative to the run folder.
type SpecModel struct {
	Path    string `json:"path"`
	Run     string `json:"run,omitempty"`
	Name    string `json:"name,omitempty"`
	Version int    `json:"version,omitempty"`
}

func newSpec(rec job.Record, e platform.Extractor, inputs []job.Input) Spec {
	parameters, defaults := e.Info.Changed(rec.Settings.Values), e.Info.Defaults()
	for _, m := range []map[string]any{parameters, defaults} {
		delete(m, form.Profile) // the machines are there when the trainer begins
	}
	return Spec{
		Schema: specSchema, Kind: e.Kind, Run: rec.Run, Attempt: rec.Attempt,
		Dataset:    SpecDataset{ID: rec.Request.DatasetID, Name: rec.Request.Name},
		Parameters: parameters, Defaults: defaults, Inputs: inputs, Script: rec.Script,
	}
}

// settings checks what the user filled in, and warns the user about parameters that the form does not have.
func (p *Pipeline) settings(rec job.Record, e platform.Extractor) (job.Settings, error) {
	values, warnings, err := e.Info.Parameters(rec.Request.Parameters)
	if err != nil {
		return job.Settings{}, err
	}
	for _, w := range warnings {
		p.remark(rec, w)
	}
	return job.NewSettings(values), nil
}

func emptyDataset(kind job.Work) string {
	if kind == job.Script {
		return "the dataset is empty: add the script and its data, then submit again"
	}
	return "the dataset is empty: add a CSV, TSV or JSONL file, or images in a folder for each label, then submit again"
}

// trainerPause is how long jobs wait until a trainer that cannot be brought back is looked at again.
const trainerPause = time.Minute

// trainerChecked is how old a look at the trainer may be at a submission. Reading all of it takes as much as a small job does otherwise,
// and many jobs may be submitted at once.
const trainerChecked = time.Second

// prepare makes ready what an attempt finds on the shared volume: the trainer as this program brought it, and a run folder into
// which the pods can write, which run as another user of the same group.
func (p *Pipeline) prepare(ctx context.Context, rec job.Record) error {
	if p.cfg.CheckTrainer != nil {
		if _, err := p.trainer.Get(ctx); err != nil {
			if ctx.Err() != nil {
				return err
			}
			return job.Later(trainerPause, &rayjob.SettingError{Setting: "SHARED_DIR", Text: fmt.Sprintf("SHARED_DIR: the trainer cannot be installed or checked: %v", err)})
		}
	}
	return p.cfg.Volume.Share(rec.Run)
}

// reads are the folders of the volume that an attempt is to read beside its own: the base models, the packages of a script, and the
// registered models that its spec names.
func (p *Pipeline) reads(run string, spec Spec, overlay string) []string {
	reads := []string{"models"}
	if overlay != "" {
		reads = append(reads, overlay)
	}
	for _, m := range []*SpecModel{spec.Model, spec.Champion} {
		if m != nil {
			reads = append(reads, path.Join("runs", run, m.Path))
		}
	}
	return reads
}

// allowScript decides what the script of a job may do, before its files are downloaded. It returns nil for other kinds of jobs. The settings
// may change: a script that may not use a GPU is told so.
func (p *Pipeline) allowScript(ctx context.Context, rec job.Record, e platform.Extractor, settings *job.Settings) (*script.Spec, error) {
	if e.Kind != job.Script {
		return nil, nil //nolint:nilnil // only scripts have one
	}
	r := script.Request{Values: settings.Values}
	if backend, ok := p.backend.(rayjob.Isolator); ok {
		var err error
		if r.Pods, err = backend.Isolates(resources(*settings)); err != nil {
			return nil, err
		}
	}
	if p.cfg.Scripts.NeedsUser() {
		var err error
		if r.User, err = p.platform.User(ctx, rec); err != nil {
			return nil, err
		}
	}
	spec, values, err := p.cfg.Scripts.Allow(r)
	if err != nil {
		return nil, err
	}
	*settings = job.NewSettings(values)
	return &spec, nil
}

// prepareScript installs the packages of a script and returns what its record keeps; nil for other kinds of jobs. The packages stay until
// the job is over, whatever happens to its attempts. The settings name the script by its path from then on.
func (p *Pipeline) prepareScript(ctx context.Context, rec job.Record, settings *job.Settings, spec *script.Spec, inputs []job.Input) (json.RawMessage, error) {
	if spec == nil {
		return nil, nil
	}
	*settings = job.NewSettings(script.NameEntry(settings.Values, inputs))
	err := p.cfg.Scripts.Install(ctx, spec, settings.Values, inputs, p.cfg.Volume.Inputs(rec.Run), func(text string) { p.remark(rec, text) })
	if err != nil {
		return nil, err
	}
	doc, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("encode what the script may do: %w", err)
	}
	return doc, nil
}
