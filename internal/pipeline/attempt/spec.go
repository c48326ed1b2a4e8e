package attempt

import (
	"encoding/json"
	"path"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/options"
)

// specSchema is the version of the contract with the trainer.
const specSchema = 3

// Spec is spec.json: what an attempt is to do. trainer/schema/spec.schema.json describes it.
type Spec struct {
	Schema  int         `json:"schema"`
	Kind    job.Work    `json:"kind"`
	Run     string      `json:"run"`
	Attempt int         `json:"attempt"`
	Dataset SpecDataset `json:"dataset"`
	// Settings are the values of all options, Sources where each came from, and Notes what the user reads about them.
	Settings map[string]any            `json:"settings"`
	Sources  map[string]options.Source `json:"sources"`
	Notes    []options.Note            `json:"notes,omitempty"`
	Inputs   []job.Input               `json:"inputs"`
	// NotRead are data of the dataset that the run does not get.
	NotRead []job.NotRead `json:"not_read,omitempty"`
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

// newSpec says what an attempt of a job with resolved options is to do.
func newSpec(rec job.Record, inputs []job.Input) Spec {
	settings, sources := options.Of(string(rec.Kind)).Complete(*rec.Resolved)
	return Spec{
		Schema: specSchema, Kind: rec.Kind, Run: rec.Run, Attempt: rec.Attempt,
		Dataset:  SpecDataset{ID: rec.Request.DatasetID, Name: rec.Request.Name},
		Settings: settings, Sources: sources, Notes: rec.Resolved.Notes, Inputs: inputs, NotRead: rec.NotRead, Script: rec.Script,
	}
}

// reads are the folders of the volume that an attempt is to read beside its own: the base models, the packages of a script, and the
// registered models that its spec names.
func reads(run string, spec Spec, overlay string) []string {
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
