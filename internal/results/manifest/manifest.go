package manifest

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// manifestVersion is the version of manifest.json that this program writes and reads.
	manifestVersion = 2
	maxManifest     = 64 << 20
)

// Manifest is manifest.json: all that is needed to say what went into a run and to make it again.
type Manifest struct {
	Schema    int                `json:"schema"`
	Kind      results.ResultKind `json:"kind"`
	Task      string             `json:"task"`
	Run       string             `json:"run"`
	Attempt   int                `json:"attempt"`
	JobID     string             `json:"job_id,omitempty"`
	Extractor string             `json:"extractor"`
	Version   string             `json:"version"`
	Started   string             `json:"started"`
	Dataset   Dataset            `json:"dataset"`
	// Settings is every option as it was used, those among them that the trainer found.
	Settings    []results.Setting `json:"settings"`
	Seed        int64             `json:"seed,omitempty"`
	SplitSHA256 string            `json:"split_sha256,omitempty"`
	Model       *Model            `json:"model,omitempty"`
	// Search are the options that repeat the search for the settings: the trials that ran, without a time limit.
	Search map[string]any `json:"search,omitempty"`
	// Script is set for a script.
	Script   *Script           `json:"script,omitempty"`
	Hardware results.Hardware  `json:"hardware,omitzero"`
	Versions map[string]string `json:"versions"`
	Outputs  []results.Output  `json:"outputs"`
}

// Dataset names the data. SHA256 is one digest over the names and the contents of all files.
type Dataset struct {
	ID     string      `json:"id,omitempty"`
	Name   string      `json:"name"`
	SHA256 string      `json:"sha256"`
	Files  []job.Input `json:"files"`
	// NotRead are the files of the dataset that the run did not read, each with the reason.
	NotRead []job.NotRead `json:"not_read,omitempty"`
}

// Model is the model that was made, or the one that predicted. WeightsSHA256 is what a repeated training must give
// again, on the same hardware with one worker.
type Model struct {
	Base          string `json:"base,omitempty"`
	BaseCommit    string `json:"base_commit,omitempty"`
	Run           string `json:"run,omitempty"`
	Name          string `json:"name,omitempty"`
	Version       int    `json:"version,omitempty"`
	WeightsSHA256 string `json:"weights_sha256,omitempty"`
}

// Script is the code of a script and how it ran.
type Script struct {
	Entry        string             `json:"entry"`
	Command      []string           `json:"command"`
	CodeSHA256   string             `json:"code_sha256"`
	Code         []results.CodeFile `json:"code"`
	Requirements []string           `json:"requirements,omitempty"`
	Sandbox      string             `json:"sandbox"`
	// Failed says that the outputs are what a script left that failed.
	Failed bool `json:"failed,omitempty"`
}

func manifestScript(r *results.Result) *Script {
	s := r.Script
	if s == nil {
		return nil
	}
	return &Script{
		Entry: s.Entry, Command: s.Command, CodeSHA256: s.CodeSHA256, Code: s.Code, Requirements: s.Requirements, Sandbox: s.Sandbox.Name, Failed: r.Partial,
	}
}

func newManifest(m Meta, r *results.Result) Manifest {
	var search map[string]any
	if r.Search != nil {
		search = r.Search.Repeat
	}
	outputs := slices.SortedFunc(slices.Values(r.Outputs), func(a, b results.Output) int { return cmp.Compare(a.Path, b.Path) })
	return Manifest{
		Schema: manifestVersion, Kind: r.Kind, Task: r.Task, Run: r.Run, Attempt: r.Attempt, JobID: m.JobID,
		Extractor: m.Extractor, Version: m.Version, Started: m.Started.UTC().Format(time.RFC3339),
		Dataset:  Dataset{ID: m.DatasetID, Name: m.DatasetName, SHA256: DataDigest(m.Inputs), Files: SortedInputs(m.Inputs), NotRead: NotRead(m, r)},
		Settings: r.Settings, Seed: r.Training.Seed, SplitSHA256: r.Data.SplitSHA256, Model: manifestModel(m, r),
		Search: search, Script: manifestScript(r), Hardware: r.Hardware, Versions: r.Versions, Outputs: outputs,
	}
}

func manifestModel(m Meta, r *results.Result) *Model {
	switch r.Kind {
	case results.ResultTraining:
		return &Model{Base: r.Model.Base, BaseCommit: r.Model.BaseCommit, Name: m.Model.Name, Version: m.Model.Version, WeightsSHA256: r.Model.WeightsSHA256}
	case results.ResultPrediction:
		p := r.Prediction.Model
		return &Model{Base: p.Base, Run: p.Run, Name: p.Name, Version: p.Version}
	default:
		return nil
	}
}

// NotRead returns the files of the dataset that a run did not get or did not read, each once.
func NotRead(m Meta, r *results.Result) []job.NotRead {
	all := slices.Concat(m.NotRead, r.Data.NotRead)
	slices.SortStableFunc(all, func(a, b job.NotRead) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(all, func(a, b job.NotRead) bool { return a.Name == b.Name })
}

// Write writes manifest.json of a run.
func Write(w io.Writer, m Meta, r *results.Result) error {
	return results.WriteJSON(w, newManifest(m, r))
}

// ReadManifest reads a manifest.json that an earlier run delivered.
func ReadManifest(path string) (Manifest, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return Manifest{}, job.Permanent(fmt.Errorf("open the folder of the manifest: %w", err))
	}
	defer func() { _ = root.Close() }()
	doc, err := results.ReadBounded(root, filepath.Base(path), maxManifest)
	if err != nil {
		return Manifest{}, err
	}
	m, err := decodeManifest(doc)
	if err != nil {
		return Manifest{}, job.Permanent(fmt.Errorf("%s: %w: use the manifest.json that a training delivered", path, err))
	}
	return m, nil
}

func decodeManifest(doc []byte) (Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(doc, &m); err != nil {
		return Manifest{}, fmt.Errorf("decode: %w", err)
	}
	switch {
	case m.Schema != manifestVersion:
		return Manifest{}, fmt.Errorf("schema %d is not known", m.Schema)
	case m.Run == "", m.Task == "", m.Dataset.SHA256 == "":
		return Manifest{}, errors.New("run, task or dataset is missing")
	}
	for _, in := range m.Dataset.Files {
		if in.Name == "" || !results.IsSHA256(in.SHA256) {
			return Manifest{}, fmt.Errorf("the file %q has no name or no sha256", text.Excerpt(in.Name, 100))
		}
	}
	return m, nil
}

// Parameters are the settings by name that make the run again: all of them, so that the trainer chooses nothing again.
func (m Manifest) Parameters() map[string]any {
	out := make(map[string]any, len(m.Settings))
	for _, s := range m.Settings {
		if s.Value != nil {
			out[s.Name] = s.Value
		}
	}
	maps.Copy(out, m.Search)
	return out
}

// Changed names the files that differ between the manifest and inputs: changed, missing or new, in order.
func (m Manifest) Changed(inputs []job.Input) []string {
	now := make(map[string]string, len(inputs))
	for _, in := range inputs {
		now[in.Name] = in.SHA256
	}
	var out []string
	for _, in := range m.Dataset.Files {
		if sum, ok := now[in.Name]; !ok || sum != in.SHA256 {
			out = append(out, in.Name)
		}
		delete(now, in.Name)
	}
	for name := range now {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Differences names what went into the run of made otherwise than into this one, each as "what: its value instead of ours".
func (m Manifest) Differences(made Manifest) []string {
	var out []string
	differ := func(what string, ours, theirs any) {
		if a, b := said(ours), said(theirs); a != b {
			out = append(out, fmt.Sprintf("%s: %s instead of %s", what, shown(b), shown(a)))
		}
	}
	if files := m.Changed(made.Dataset.Files); len(files) > 0 {
		out = append(out, "the data: "+text.ListSome(files, results.MaxNotes, 60))
	}
	theirs := made.Parameters()
	for _, name := range slices.Sorted(maps.Keys(m.Parameters())) {
		value := m.Parameters()[name]
		if slices.Contains([]string{"run_name", "register_as", "make_champion", "upload"}, name) {
			continue // what becomes of a model does not change it
		}
		for _, in := range m.Dataset.Files {
			if in.ID != "" && in.ID == value {
				value = in.Name // a file is known by its id in Clowder, and by its name in a folder
			}
		}
		differ(name, value, theirs[name])
	}
	if len(out) == 0 {
		differ("the row split (sha256)", m.SplitSHA256, made.SplitSHA256)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Versions)) {
		version := m.Versions[name]
		differ(name, version, made.Versions[name])
	}
	differ("clowder-ray", m.Version, made.Version)
	differ("the CPU", m.Hardware.CPU, made.Hardware.CPU)
	differ("the GPU", m.Hardware.GPU, made.Hardware.GPU)
	return out
}

// said is a value in words, empty for one that is not there.
func said(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// shown is a value in a sentence.
func shown(words string) string { return text.Shorten(results.Plain(words, "nothing"), 80) }

// SortedInputs returns the inputs in one order, whatever order they were downloaded in.
func SortedInputs(inputs []job.Input) []job.Input {
	return slices.SortedFunc(slices.Values(inputs), func(a, b job.Input) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID), cmp.Compare(a.SHA256, b.SHA256))
	})
}

// DataDigest is one sha256 over the names and the contents of all inputs: the same for the same data, in whatever order it
// was downloaded.
func DataDigest(inputs []job.Input) string {
	h := sha256.New()
	for _, in := range SortedInputs(inputs) {
		_, _ = fmt.Fprintf(h, "%s  %q\n", in.SHA256, in.Name) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}
