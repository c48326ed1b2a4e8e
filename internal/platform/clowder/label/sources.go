package label

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// labelNotes are labels in the metadata of files, or else of their datasets, under one key or several.
type labelNotes struct {
	session versions.Session
	keys    []string
	// dataset is that of the job, and written are the extractors of this service: what they write on a dataset describes runs.
	dataset string
	written []string

	mu sync.Mutex
	// there are some names in the metadata of files that have no label.
	there    map[string]bool
	datasets map[string]*datasetLabels
}

// datasetLabels are the labels of a dataset, one for each key, read once.
type datasetLabels struct {
	once   sync.Once
	labels []string
	err    error
}

func (l *labelNotes) names() []string {
	names := make([]string, len(l.keys))
	for i, key := range l.keys {
		names[i] = "metadata " + text.Excerpt(key, 60)
	}
	return names
}

func (l *labelNotes) of(ctx context.Context, in job.Input) ([]labelRead, error) {
	notes, err := l.session.FileNotes(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	read := make([]labelRead, len(l.keys))
	for i, key := range l.keys {
		read[i].label, read[i].version = labelIn(notes, key)
		if read[i].label != "" {
			continue
		}
		l.addKeys(notes)
		if memberSomewhere(notes, key) {
			continue // it says something else than its dataset
		}
		others, err := l.ofDataset(ctx, in)
		if err != nil {
			return nil, err
		}
		if others != nil {
			read[i] = labelRead{label: others[i], ofDataset: true}
		}
	}
	return read, nil
}

// ofDataset returns the labels of the dataset of a file, nil for a file of no dataset.
func (l *labelNotes) ofDataset(ctx context.Context, in job.Input) ([]string, error) {
	id := cmp.Or(in.DatasetID, l.dataset)
	if in.DatasetID == "" && in.Source != "" {
		id, _ = strings.CutPrefix(in.Source, l.session.Address()+"/datasets/")
		if id == in.Source {
			id = ""
		}
	}
	if id == "" {
		return nil, nil
	}
	l.mu.Lock()
	d := l.datasets[id]
	if d == nil {
		d = &datasetLabels{labels: make([]string, len(l.keys))}
		l.datasets[id] = d
	}
	l.mu.Unlock()
	d.once.Do(func() {
		notes, err := l.session.DatasetNotes(ctx, id)
		if clowder.StatusOf(err) == http.StatusNotFound {
			err = nil
		}
		d.err = err
		notes = slices.DeleteFunc(notes, func(n clowder.Note) bool { return slices.Contains(l.written, n.Extractor) })
		for i, key := range l.keys {
			d.labels[i], _ = labelIn(notes, key)
		}
		l.addKeys(notes)
	})
	return d.labels, d.err
}

// addKeys adds the names in the metadata of a file or dataset, up to a few.
func (l *labelNotes) addKeys(notes []clowder.Note) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, note := range notes {
		for key := range note.Content {
			if len(l.there) < maxKeys {
				l.there[text.Excerpt(key, 40)] = true
			}
		}
	}
}

func (l *labelNotes) none() error {
	there := "its files have no metadata"
	if len(l.there) > 0 {
		there = "its files have " + strings.Join(slices.Sorted(maps.Keys(l.there)), ", ")
	}
	return job.Permanent(fmt.Errorf("no file of the dataset has a label in its metadata %s (%s): add it to the files or to the dataset in Clowder, or correct label_from", text.ListSome(l.keys, 6, 60), there))
}

// tagger has tags on files.
type tagger interface {
	FileTags(ctx context.Context, file string) ([]string, error)
	// SectionTags are those of the parts of a file that people have marked.
	SectionTags(ctx context.Context, file string) ([]string, error)
}

// labelTags are labels that are the one tag of a file.
type labelTags struct {
	session tagger

	mu      sync.Mutex
	several map[string]int // the tags of files that have more than one
}

func (l *labelTags) names() []string { return []string{"tag, or more than one,"} }

func (l *labelTags) of(ctx context.Context, in job.Input) ([]labelRead, error) {
	tags, err := l.session.FileTags(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return []labelRead{{label: l.only(in.Name, tags)}}, nil
}

// only returns the one tag of a file, empty where it has none or several: which of them is the label cannot be seen.
func (l *labelTags) only(file string, tags []string) string {
	different := map[string]bool{}
	for _, tag := range tags {
		if tag = text.OneLine(tag); tag != "" {
			different[tag] = true
		}
	}
	if len(different) > 1 {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.several == nil {
			l.several = map[string]int{}
		}
		l.several[file] = len(different)
		return ""
	}
	for tag := range different {
		if len(tag) <= maxLabel {
			return tag
		}
	}
	return ""
}

func (l *labelTags) none() error {
	why := "no file of the dataset has a tag"
	if len(l.several) > 0 {
		first := slices.Min(slices.Collect(maps.Keys(l.several)))
		why = fmt.Sprintf("no file of the dataset has exactly one tag (%s has %d)", text.Excerpt(first, 60), l.several[first])
	}
	return job.Permanent(fmt.Errorf("%s, and label_from is tags: give each file one tag in Clowder, or write metadata. and the name of the metadata that holds the labels", why))
}
