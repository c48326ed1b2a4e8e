package registry

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Local stands for the dataset of models that were trained on a folder of this machine.
const Local = "local"

// Version is version.json: one model that a run made.
type Version struct {
	Schema int `json:"schema"`
	// Name and Version are how people call it: films/3.
	Name        string `json:"name"`
	Version     int    `json:"version"`
	Run         string `json:"run"`
	DatasetID   string `json:"dataset_id,omitempty"`
	DatasetName string `json:"dataset_name,omitempty"`
	Task        string `json:"task"`
	// Kind is text, image or table; Base the installed model that it began with, or the shape of one from scratch.
	Kind   string   `json:"kind"`
	Base   string   `json:"base"`
	Labels []string `json:"labels"`
	// Test is the metric over the test rows, which the digest of the split names; nil without test rows.
	Metric      string `json:"metric"`
	Test        *Score `json:"test,omitempty"`
	SplitSHA256 string `json:"split_sha256,omitempty"`
	// Created is when the job was received, so that registering again gives the same.
	Created       time.Time `json:"created"`
	WeightsSHA256 string    `json:"weights_sha256,omitempty"`
	Files         []File    `json:"files"`
	// Best is the champion of its name since this version was registered: itself, an earlier one, or none. Why gives the reason.
	Best string `json:"best,omitempty"`
	Why  string `json:"why"`
}

// Score is a value with its 95 % interval, where there is one, over N rows.
type Score struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	N     int      `json:"n"`
}

// File is one file of a model, with its path relative to the folder of the model.
type File struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Ref is what people type to mean this version.
func (v Version) Ref() string { return v.Name + "/" + strconv.Itoa(v.Version) }

// Won reports whether the version became the champion when it was registered.
func (v Version) Won() bool { return v.Best == v.Ref() }

// dataset is the folder of the version's dataset.
func (v Version) dataset() string { return cmp.Or(v.DatasetID, Local) }

const (
	schema       = 1
	modelDir     = "model"
	versionFile  = "version.json"
	championFile = "champion.json"
	maxName      = 60
)

// idForm admits the ids of datasets and runs as names of folders: nothing of that form leads anywhere else.
var idForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// Slug makes the name of a model of what people call their data: lower-case letters and digits with single dashes. Text
// without any gives "model".
func Slug(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() == maxName {
			break
		}
	}
	return cmp.Or(strings.Trim(b.String(), "-"), "model")
}

// Registry is the folder of all models. Its zero value is not usable.
type Registry struct {
	dir string
	// judging is held while a version is compared with the champion and takes its title.
	judging sync.Mutex
}

// New returns the registry in dir, which need not be there yet.
func New(dir string) *Registry { return &Registry{dir: dir} }

// Model is the folder of the version's model files.
func (r *Registry) Model(v Version) string {
	return filepath.Join(r.dir, v.dataset(), v.Name, strconv.Itoa(v.Version), modelDir)
}

// Versions returns the versions of a name, oldest first. A name that nobody registered has none.
func (r *Registry) Versions(dataset, name string) ([]Version, error) {
	var out []Version
	for _, n := range r.numbers(dataset, name) {
		v, err := readJSON[Version](filepath.Join(r.dir, dataset, name, strconv.Itoa(n), versionFile))
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// All returns all versions of a dataset, by name and then oldest first.
func (r *Registry) All(dataset string) ([]Version, error) {
	var out []Version
	for _, name := range r.folders(dataset) {
		versions, err := r.Versions(dataset, name)
		if err != nil {
			return nil, err
		}
		out = append(out, versions...)
	}
	return out, nil
}

// Datasets returns the ids of the datasets that have models, in order.
func (r *Registry) Datasets() []string { return r.folders() }

// folders lists the folders below a path of the registry by name; hidden ones are being made. A path that would lead out of
// the registry has none.
func (r *Registry) folders(path ...string) []string {
	if slices.ContainsFunc(path, func(part string) bool { return !idForm.MatchString(part) }) {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Join(append([]string{r.dir}, path...)...)) // one that is not there holds none
	var out []string
	for _, e := range entries {
		if e.IsDir() && idForm.MatchString(e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out
}

func (r *Registry) numbers(dataset, name string) []int {
	var out []int
	for _, folder := range r.folders(dataset, name) {
		if n, err := strconv.Atoi(folder); err == nil && n > 0 {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

func readJSON[T any](path string) (out T, err error) {
	doc, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(doc, &out)
	}
	if err != nil {
		return out, fmt.Errorf("read %s of the model registry: %w", filepath.Base(path), err)
	}
	return out, nil
}

// writeJSON writes v to path so that a reader sees all of it or nothing, also after a crash.
func writeJSON(path string, v any) error {
	doc, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".part-*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(doc, '\n'))
	if err = errors.Join(err, f.Chmod(fs.FileMode(0o644)), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
