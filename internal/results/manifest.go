package results

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
)

// manifest is manifest.json: all that is needed to say what went into a model and to make it again.
type manifest struct {
	Schema    int               `json:"schema"`
	Run       string            `json:"run"`
	Attempt   int               `json:"attempt"`
	JobID     string            `json:"job_id,omitempty"`
	Extractor string            `json:"extractor"`
	Version   string            `json:"version"`
	Started   string            `json:"started"`
	Dataset   manifestDataset   `json:"dataset"`
	Settings  map[string]any    `json:"settings"`
	Data      Data              `json:"data"`
	Model     Model             `json:"model"`
	Training  Training          `json:"training"`
	Versions  map[string]string `json:"versions"`
	Outputs   []Output          `json:"outputs"`
}

type manifestDataset struct {
	ID     string      `json:"id,omitempty"`
	Name   string      `json:"name"`
	SHA256 string      `json:"sha256"`
	Files  []job.Input `json:"files"`
}

func writeManifest(w io.Writer, m Meta, r *Result) error {
	inputs := sortedInputs(m.Inputs)
	outputs := slices.SortedFunc(slices.Values(r.Outputs), func(a, b Output) int { return cmp.Compare(a.Path, b.Path) })
	return writeJSON(w, manifest{
		Schema: schemaVersion, Run: r.Run, Attempt: r.Attempt, JobID: m.JobID, Extractor: m.Extractor, Version: m.Version,
		Started:  m.Started.UTC().Format(time.RFC3339),
		Dataset:  manifestDataset{ID: m.DatasetID, Name: m.DatasetName, SHA256: dataDigest(m.Inputs), Files: inputs},
		Settings: m.Settings, Data: r.Data, Model: r.Model, Training: r.Training, Versions: r.Versions, Outputs: outputs,
	})
}

func sortedInputs(inputs []job.Input) []job.Input {
	return slices.SortedFunc(slices.Values(inputs), func(a, b job.Input) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID), cmp.Compare(a.SHA256, b.SHA256))
	})
}

// dataDigest is one sha256 over the names and the contents of all inputs: the same for the same data, in whatever order it
// was downloaded.
func dataDigest(inputs []job.Input) string {
	h := sha256.New()
	for _, in := range sortedInputs(inputs) {
		_, _ = fmt.Fprintf(h, "%s  %q\n", in.SHA256, in.Name) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// writeJSON writes v for people and programs: indented, keys of maps in order, no escaped angle brackets.
func writeJSON(w io.Writer, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	_, err := w.Write(buf.Bytes())
	return err
}
