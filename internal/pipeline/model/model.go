// Package model ties jobs to registered models: the version that a record names, the dataset under which the registry keeps the models of
// a job, and a version as it is packed or promoted for users.
//
// It writes nothing but promotions, which may be repeated. It knows nothing of stages and statuses.
package model

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
)

// Clowders tells to which Clowder a job belongs.
type Clowders interface {
	// Address is the address of the Clowder of the job, or empty for folders of this machine. The error about one that is not served is
	// permanent.
	Address(rec job.Record) (string, error)
}

// Dataset is the dataset of a job as the registry names it. The error about a Clowder that is not served is permanent.
func Dataset(clowders Clowders, rec job.Record) (registry.Dataset, error) {
	address, err := clowders.Address(rec)
	if err != nil {
		return registry.Dataset{}, err
	}
	if rec.Request.DatasetID == "" {
		return registry.Dataset{ID: registry.Local}, nil
	}
	return registry.Dataset{Clowder: address, ID: rec.Request.DatasetID}, nil
}

// Of is the version that a record names, nil for none.
func Of(rec job.Record) (*registry.Version, error) {
	if len(rec.Model) == 0 {
		return nil, nil //nolint:nilnil // most records name no model
	}
	var v registry.Version
	if err := json.Unmarshal(rec.Model, &v); err != nil {
		return nil, fmt.Errorf("decode the model of the job: %w", err)
	}
	return &v, nil
}

// Encode writes a version for the record; nil for none.
func Encode(v *registry.Version) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	doc, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode the model of the job: %w", err)
	}
	return doc, nil
}

// Stored is the model of a version as it can be packed for users.
func Stored(models *registry.Registry, v registry.Version) (delivery.StoredModel, error) {
	facts, err := json.Marshal(v)
	if err != nil {
		return delivery.StoredModel{}, fmt.Errorf("encode the description of the model %s: %w", v.Ref(), err)
	}
	m := delivery.StoredModel{
		Dir: models.Model(v), Ref: v.Ref(), Run: v.Run, Made: v.Created, Snippet: snippet(models.Model(v), v), Facts: facts,
	}
	for _, f := range v.Files {
		m.Files = append(m.Files, results.Output{Path: f.Path, Size: f.Size, SHA256: f.SHA256})
	}
	return m, nil
}

// snippet names the lines of Python that load a version. A version whose description cannot be read is packed nevertheless.
func snippet(folder disk.Folder, v registry.Version) string {
	has := func(file string) bool {
		return slices.ContainsFunc(v.Files, func(f registry.File) bool { return f.Path == file })
	}
	d, err := results.ReadDescription(folder)
	if err != nil {
		d = results.ModelDescription{Kind: v.Kind, Base: v.Base, Task: v.Task}
	}
	return d.SnippetOf(has)
}
