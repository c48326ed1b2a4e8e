package clowder

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform/settingsfile"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// labelStreams is how many files are asked for their metadata in parallel.
	labelStreams = 8
	// maxLabel is the length in bytes of the longest label, and maxKeys how many keys an error names.
	maxLabel = 200
	maxKeys  = 8
)

// addLabels gives each staged file the label that its metadata holds, if the form or the settings file of the dataset asks for that.
// from is what the form says.
func addLabels(ctx context.Context, s versions.Session, from string, inputs []job.Input, dir disk.Folder, say func(string)) error {
	if from == "" {
		asked, err := stagedOptions(inputs, dir)
		if err != nil {
			return err
		}
		from = asked.LabelFrom
	}
	if from == "" {
		return nil
	}
	key, ok := strings.CutPrefix(from, "metadata.")
	if !ok || key == "" {
		return job.Permanent(fmt.Errorf("label_from is %q: write metadata. and the name of the metadata that holds the labels, for example metadata.species", text.Excerpt(from, 60)))
	}
	var mu sync.Mutex
	others := map[string]bool{}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(labelStreams)
	asked := 0
	for i := range inputs {
		if settingsfile.Is(inputs[i].Name) {
			continue
		}
		asked++
		group.Go(func() error {
			notes, err := s.FileNotes(groupCtx, inputs[i].ID)
			if clowder.StatusOf(err) == http.StatusNotFound {
				return nil // it was deleted after it was staged
			}
			if err != nil {
				return err
			}
			inputs[i].Label = labelIn(notes, key)
			if inputs[i].Label == "" {
				mu.Lock()
				defer mu.Unlock()
				addKeys(others, notes)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	missing := 0
	for _, in := range inputs {
		if in.Label == "" && !settingsfile.Is(in.Name) {
			missing++
		}
	}
	switch {
	case missing == asked && asked > 0:
		return noLabels(key, others)
	case missing > 0:
		say(fmt.Sprintf("%d of %s have no metadata %s and are left out", missing, text.Count(asked, "file"), key))
	}
	return nil
}

// stagedOptions reads the settings file among the staged files.
func stagedOptions(inputs []job.Input, dir disk.Folder) (o settingsfile.Options, err error) {
	var settings *job.Input
	for i, in := range inputs {
		if settingsfile.Is(in.Name) && (settings == nil || settingsfile.Better(in.Name, settings.Name)) {
			settings = &inputs[i]
		}
	}
	if settings == nil || settings.Size > settingsfile.MaxBytes {
		return o, nil // the trainer refuses one that is too large
	}
	root, err := dir.Open()
	if err != nil {
		return o, fmt.Errorf("read %s: %w", settings.Name, err)
	}
	doc, err := disk.ReadFile(root, settings.Path, settingsfile.MaxBytes)
	if err = errors.Join(err, root.Close()); err != nil {
		return o, fmt.Errorf("read %s: %w", settings.Name, err)
	}
	o, err = settingsfile.Parse(settings.Name, doc)
	if err != nil {
		return settingsfile.Options{}, nil //nolint:nilerr // the trainer reads the file as well, and says more of what is wrong in it
	}
	return o, nil
}

// labelIn returns the first label under a key: the name of a member, or names of nested ones with points between them.
func labelIn(notes []clowder.Note, key string) string {
	for _, note := range notes {
		if label := labelOf(memberOf(note.Content, key)); label != "" {
			return label
		}
	}
	return ""
}

func memberOf(content map[string]any, key string) any {
	if value, ok := content[key]; ok {
		return value
	}
	name, rest, nested := strings.Cut(key, ".")
	inner, ok := content[name].(map[string]any)
	if !nested || !ok {
		return nil
	}
	return memberOf(inner, rest)
}

// labelOf is a value as a label: a text, a number, or true or false. Anything else is none.
func labelOf(value any) string {
	switch v := value.(type) {
	case string:
		if v = text.OneLine(v); len(v) <= maxLabel {
			return v
		}
		return ""
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return ""
	}
}

// addKeys adds the names in the metadata of a file, up to a few.
func addKeys(all map[string]bool, notes []clowder.Note) {
	for _, note := range notes {
		for key := range note.Content {
			if len(all) < maxKeys {
				all[text.Excerpt(key, 40)] = true
			}
		}
	}
}

func noLabels(key string, others map[string]bool) error {
	there := "its files have no metadata"
	if len(others) > 0 {
		there = "its files have " + strings.Join(slices.Sorted(maps.Keys(others)), ", ")
	}
	return job.Permanent(fmt.Errorf("no file of the dataset has a label in its metadata %s (%s): add it to the files in Clowder, or correct label_from", text.Excerpt(key, 60), there))
}
