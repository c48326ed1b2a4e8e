package pipeline

import "github.com/ncsa/clowder-ray/internal/job"

// specSchema is the version of the contract with the trainer.
const specSchema = 1

// Spec is spec.json: what an attempt is to do. trainer/schema/spec.schema.json describes it.
type Spec struct {
	Schema     int            `json:"schema"`
	Run        string         `json:"run"`
	Attempt    int            `json:"attempt"`
	Dataset    SpecDataset    `json:"dataset"`
	Parameters map[string]any `json:"parameters"`
	Inputs     []job.Input    `json:"inputs"`
}

// SpecDataset names the dataset for the model card and the report.
type SpecDataset struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func newSpec(rec job.Record, inputs []job.Input) Spec {
	return Spec{
		Schema: specSchema, Run: rec.Run, Attempt: rec.Attempt,
		Dataset:    SpecDataset{ID: rec.Request.DatasetID, Name: rec.Request.Name},
		Parameters: rec.Settings, Inputs: inputs,
	}
}
