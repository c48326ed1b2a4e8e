package registry

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/text"
)

// Version is version.json: one trained model. Name, Version, DatasetID and Clowder of a version that was read come from its folder, not
// from the file.
type Version struct {
	Schema int `json:"schema"`
	// Name and Version are the reference that users type: films/3.
	Name    string `json:"name"`
	Version int    `json:"version"`
	Run     string `json:"run"`
	// Clowder is the address of the Clowder of the dataset. It is empty for a folder of this machine, and for versions of older versions
	// of the service.
	Clowder     string `json:"clowder,omitempty"`
	DatasetID   string `json:"dataset_id,omitempty"`
	DatasetName string `json:"dataset_name,omitempty"`
	Task        string `json:"task"`
	// Kind is text, tokens, image, table, language or graph. Base is the installed model that the training started from, or the architecture of a new model.
	Kind   string   `json:"kind"`
	Base   string   `json:"base"`
	Labels []string `json:"labels"`
	// Test is the score on the test rows, or nil. SplitSHA256 identifies the split.
	Metric      string `json:"metric"`
	MetricTitle string `json:"metric_title,omitempty"`
	// MetricDirection is higher or lower: which values are better. MetricUnit is empty for plain numbers.
	MetricDirection string `json:"metric_direction,omitempty"`
	MetricUnit      string `json:"metric_unit,omitempty"`
	Test            *Score `json:"test,omitempty"`
	SplitSHA256     string `json:"split_sha256,omitempty"`
	// Created is when the job was received, so that a repeated registration gives the same.
	Created       time.Time `json:"created"`
	WeightsSHA256 string    `json:"weights_sha256,omitempty"`
	// LabelFrom is where the training read the labels of files, as its option of that name said; empty for elsewhere.
	LabelFrom string `json:"label_from,omitempty"`
	Files     []File `json:"files"`
	// Best is the champion after this version was registered: itself, an earlier version, or none. Why is the reason.
	Best string `json:"best,omitempty"`
	Why  string `json:"why"`
	// folder is the folder in the registry where the version was found. Job records do not contain it.
	folder string
}

// Score is a value over N rows, with its 95 % interval if there is one.
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

// Ref is the reference that users type.
func (v Version) Ref() string { return v.Name + "/" + strconv.Itoa(v.Version) }

// Folder is the folder of the dataset in the registry in which the version lies.
func (v Version) Folder() string { return cmp.Or(v.folder, v.of().Folder()) }

// Won reports whether the version became the champion when it was registered.
func (v Version) Won() bool { return v.Best == v.Ref() }

// Known reports whether the version was read. An unreadable champion has only its name and number.
func (v Version) Known() bool { return v.Run != "" }

// of returns the dataset of the version.
func (v Version) of() Dataset { return Dataset{Clowder: v.Clowder, ID: cmp.Or(v.DatasetID, Local)} }

const (
	schema  = 1
	maxName = 60
	// maxText limits the texts that are read from version.json, in characters. The service writes shorter ones.
	maxText = 500
	// MaxLabelFrom is the length in bytes of the longest LabelFrom: one that is cut would name another place.
	MaxLabelFrom = maxText
)

// nameForm matches the results of Slug.
var nameForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?$`)

// Slug makes a model name from the name of a dataset: lower-case letters and digits with single dashes. A name without any of them becomes
// "model".
func Slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
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

// decodeVersion decodes version.json of the version in a slot of the dataset. Other programs can write to the registry, so the identity of
// the version comes from the slot, and texts are shortened.
func decodeVersion(doc []byte, of Dataset, s slot) (Version, error) {
	var v Version
	if err := json.Unmarshal(doc, &v); err != nil {
		return Version{}, err
	}
	if v.Schema > schema {
		return Version{}, fmt.Errorf("it was written by a newer version of this program (schema %d, known is %d): use that version", v.Schema, schema)
	}
	if !idForm.MatchString(v.Run) {
		return Version{}, errors.New("it has no valid run")
	}
	for _, f := range v.Files {
		if !filepath.IsLocal(f.Path) || f.Size < 0 {
			return Version{}, fmt.Errorf("the file %.60q cannot belong to a model", f.Path)
		}
	}
	place, _ := datasetIn(s.folder)
	switch {
	case place.mark == "":
		v.Clowder = ""
	case of.Clowder != "":
		v.Clowder = of.Clowder
	case mark(v.Clowder) != place.mark: // the folder was renamed
		v.Clowder = ""
	}
	v.Name, v.Version, v.folder, v.DatasetID = s.name, s.number, s.folder, place.ID
	if place.ID == Local {
		v.DatasetID = ""
	}
	for _, s := range []*string{&v.DatasetName, &v.Task, &v.Kind, &v.Base, &v.Metric, &v.MetricTitle, &v.MetricDirection, &v.MetricUnit, &v.LabelFrom, &v.Best, &v.Why} {
		*s = text.Excerpt(*s, maxText)
	}
	return v, nil
}
