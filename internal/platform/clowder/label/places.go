package label

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// tagLabels and sectionLabels are what label_from says for the tags of files and for those of their sections, notePrefix stands before a key.
	tagLabels, sectionLabels, notePrefix = "tags", "sections", "metadata."
	// maxColumns is how many places label_from may name.
	maxColumns = 50
)

// labelRead is what Clowder says of the label of a file.
type labelRead struct {
	label string
	// version is the version of the file that the label describes, 0 where files have one.
	version int
	// ofDataset says that the label is that of the dataset of the file.
	ofDataset bool
}

func (r labelRead) there() bool { return r.label != "" }

// labels are the labels that Clowder keeps in one place. It is safe for concurrent use.
type labels interface {
	// of returns the labels of a file, one for each name, empty for none.
	of(ctx context.Context, in job.Input) ([]labelRead, error)
	// names are what a file without a label lacks.
	names() []string
	// none is the error of a job without any label.
	none() error
}

// betweenPlaces is a comma between two places. Any other comma is a part of a key.
var betweenPlaces = regexp.MustCompile(`,\s*(metadata\.|(?:tags|sections)\s*(?:,|$))`)

// partsOf splits label_from into the places that it names, each once.
func partsOf(from string) []string {
	var parts []string
	for at := betweenPlaces.FindStringSubmatchIndex(from); ; at = betweenPlaces.FindStringSubmatchIndex(from) {
		part := from
		if at != nil {
			part, from = from[:at[0]], from[at[2]:]
		}
		if part = strings.TrimSpace(part); part != "" && !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
		if at == nil {
			return parts
		}
	}
}

// Keys are the keys of metadata that label_from names. Tags and sections have none.
func Keys(from string) (keys []string) {
	for _, part := range partsOf(from) {
		if key, isKey := strings.CutPrefix(part, notePrefix); isKey && strings.TrimSpace(key) != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// labelPlaces are the places that label_from names, those in metadata together, since a file is asked for its metadata once.
type labelPlaces struct {
	places []labels
	// columns are the labels in the order in which the user named them, and at where each is among those of all places.
	columns []string
	at      []int
}

// labelsFrom returns the places that the settings name.
func labelsFrom(s versions.Session, rec job.Record, written []string) (labelPlaces, error) {
	parts := partsOf(rec.Settings.LabelFrom)
	notes := &labelNotes{
		session: s, dataset: rec.Request.DatasetID, written: written, there: map[string]bool{}, datasets: map[string]*datasetLabels{},
	}
	var tagged []string
	out := labelPlaces{}
	for _, part := range parts {
		switch key, isKey := strings.CutPrefix(part, notePrefix); {
		case isKey && strings.TrimSpace(key) != "":
			notes.keys, out.columns = append(notes.keys, key), append(out.columns, key)
		case part == tagLabels || part == sectionLabels:
			tags, ok := s.(tagger)
			if !ok {
				return out, job.Permanent(fmt.Errorf("label_from has %s, and this Clowder has no tags: write metadata. and the name of the metadata that holds the labels", part))
			}
			tagged, out.columns = append(tagged, part), append(out.columns, part)
			out.places = append(out.places, placeOfTags(tags, part))
		default:
			return out, job.Permanent(fmt.Errorf("label_from has %q: write metadata. and the name of the metadata that holds the labels, for example metadata.species", text.Excerpt(part, 60)))
		}
	}
	switch {
	case len(parts) == 0:
		return out, job.Permanent(errors.New("label_from names nothing: write metadata. and the name of the metadata that holds the labels, for example metadata.species"))
	case len(parts) > maxColumns:
		return out, job.Permanent(fmt.Errorf("label_from names %d places, which is more than %d: name those that the model needs", len(parts), maxColumns))
	}
	if len(notes.keys) > 0 {
		out.places = append([]labels{notes}, out.places...)
	}
	for i, part := range parts {
		_, isKey := strings.CutPrefix(part, notePrefix)
		at := slices.Index(notes.keys, out.columns[i])
		if !isKey {
			at = len(notes.keys) + slices.Index(tagged, part)
		}
		out.at = append(out.at, at)
	}
	return out, nil
}

// of asks all places for the labels of a file, in the order of the columns.
func (p labelPlaces) of(ctx context.Context, in job.Input) ([]labelRead, error) {
	var all []labelRead
	for _, place := range p.places {
		read, err := place.of(ctx, in)
		if err != nil {
			return nil, err
		}
		all = append(all, read...)
	}
	return inOrder(all, p.at), nil
}

// names are what files without a label lack, in the order of the columns.
func (p labelPlaces) names() []string {
	var all []string
	for _, place := range p.places {
		all = append(all, place.names()...)
	}
	return inOrder(all, p.at)
}

func inOrder[T any](all []T, at []int) []T {
	out := make([]T, len(at))
	for i, place := range at {
		out[i] = all[place]
	}
	return out
}

func placeOfTags(tags tagger, part string) labels {
	if part == sectionLabels {
		return labelSections{tags}
	}
	return &labelTags{session: tags}
}

// labelSections are the tags of the sections of a file, which people mark in Clowder v1: all of them, as the labels of one file.
type labelSections struct{ session tagger }

func (l labelSections) names() []string { return []string{"section with a tag"} }

func (l labelSections) of(ctx context.Context, in job.Input) ([]labelRead, error) {
	tags, err := l.session.SectionTags(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	members := make([]any, 0, len(tags))
	for _, tag := range tags {
		if text.OneLine(tag) != "" {
			members = append(members, tag)
		}
	}
	return []labelRead{{label: labelOfList(members)}}, nil
}

func (labelSections) none() error {
	return job.Permanent(errors.New("no file of the dataset has a section with a tag, and label_from is sections: mark parts of the files in Clowder and give them tags, or write tags for those of the files"))
}

// memberSomewhere reports whether an entry has a member under a key, whatever it is.
func memberSomewhere(notes []clowder.Note, key string) bool {
	return slices.ContainsFunc(notes, func(n clowder.Note) bool { return memberOf(n.Content, key) != nil })
}
