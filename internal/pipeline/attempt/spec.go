package attempt

import (
	"encoding/json"
	"path"

	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
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
		Schema: specSchema, Kind: rec.Kind, Run: rec.Run, Attempt: rec.Attempt,
		Dataset:    SpecDataset{ID: rec.Request.DatasetID, Name: rec.Request.Name},
		Parameters: parameters, Defaults: defaults, Inputs: inputs, Script: rec.Script,
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
