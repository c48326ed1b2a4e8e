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
	"unicode"
)

// Version is version.json: one model that a run made. Name, Version, DatasetID and Clowder of one that was read are what its
// folder says, whatever stands in the file.
type Version struct {
	Schema int `json:"schema"`
	// Name and Version are how people call it: films/3.
	Name    string `json:"name"`
	Version int    `json:"version"`
	Run     string `json:"run"`
	// Clowder is the address of the Clowder of the dataset. It is empty for a folder of this machine, and in versions from
	// before it was noted.
	Clowder     string `json:"clowder,omitempty"`
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
	// folder is where the version was found, below the registry. Records of jobs do not tell it.
	folder string
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

// Known reports whether more is known of the version than its name and number: of a champion that cannot be read it is not.
func (v Version) Known() bool { return v.Run != "" }

// of is whose version it is.
func (v Version) of() Dataset { return Dataset{Clowder: v.Clowder, ID: cmp.Or(v.DatasetID, Local)} }

const (
	schema  = 1
	maxName = 60
	// maxText is how many characters of a text of version.json are believed; those that the service writes are shorter.
	maxText = 500
)

// nameForm is what Slug makes.
var nameForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?$`)

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

// decodeVersion reads version.json of the version that lies in a slot of the dataset. Other programs write to the registry: what
// identifies the version is taken from the slot, and texts are cut to what people can read.
func decodeVersion(doc []byte, of Dataset, s slot) (Version, error) {
	var v Version
	if err := json.Unmarshal(doc, &v); err != nil {
		return Version{}, err
	}
	if !idForm.MatchString(v.Run) {
		return Version{}, errors.New("it names no run")
	}
	for _, f := range v.Files {
		if !filepath.IsLocal(f.Path) || f.Size < 0 {
			return Version{}, fmt.Errorf("the file %.60q cannot be one of a model", f.Path)
		}
	}
	found, _ := datasetIn(s.folder)
	switch {
	case found.mark == "":
		v.Clowder = ""
	case of.Clowder != "":
		v.Clowder = of.Clowder
	case mark(v.Clowder) != found.mark: // somebody has renamed the folder
		v.Clowder = ""
	}
	v.Name, v.Version, v.folder, v.DatasetID = s.name, s.number, s.folder, found.ID
	if found.ID == Local {
		v.DatasetID = ""
	}
	for _, text := range []*string{&v.DatasetName, &v.Task, &v.Kind, &v.Base, &v.Metric, &v.Best, &v.Why} {
		*text = plain(*text)
	}
	return v, nil
}

// plain is a text in one line of at most maxText characters.
func plain(text string) string {
	out := []rune(text)
	out = out[:min(len(out), maxText)]
	for i, r := range out {
		if unicode.IsControl(r) {
			out[i] = ' '
		}
	}
	return string(out)
}
