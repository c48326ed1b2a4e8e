package platform

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/options"
	"github.com/ncsa/clowder-ray/internal/text"
)

// ReadFile returns a file that is staged and has at most options.MaxBytes.
type ReadFile func(in job.Input) (string, error)

// Resolve brings the options of a job together from all their sources: the checked values of its form, the lines and the file that the form
// names, the settings file of the dataset, and the defaults of the form. An error about a source is permanent, and for the user.
func (e Extractor) Resolve(values map[string]any, inputs []job.Input, read ReadFile) (options.Resolved, error) {
	changed, defaults := e.Info.Changed(values), e.Info.Defaults()
	for _, m := range []map[string]any{changed, defaults} {
		delete(m, form.Profile) // the machines are there when the trainer begins
	}
	layers := []options.Layer{options.FormLayer(options.OfForm, "the form", changed)}
	if e.Kind == job.Train {
		lines, _ := changed["more_options"].(string)
		chosen, _ := changed["config_file"].(string)
		files, err := settingsFiles(inputs, chosen, read)
		if err != nil {
			return options.Resolved{}, err
		}
		layers = append(append(layers, options.LinesLayer(lines)), files...)
	}
	layers = append(layers, options.FormLayer(options.OfAdministrator, "the administrator's defaults", defaults))
	resolved, err := options.Of(string(e.Kind)).Resolve(layers...)
	if err != nil {
		return options.Resolved{}, job.Permanent(err)
	}
	return resolved, nil
}

// settingsFiles reads the settings files of a training.
func settingsFiles(inputs []job.Input, chosen string, read ReadFile) (layers []options.Layer, err error) {
	named, nearest := job.SettingsFiles(inputs, chosen)
	if chosen != "" && named == nil {
		return nil, noSettingsFile(inputs, chosen)
	}
	for _, file := range []struct {
		in     *job.Input
		source options.Source
	}{{named, options.OfChosenFile}, {nearest, options.OfDatasetFile}} {
		if file.in == nil {
			continue
		}
		if file.in.Size > options.MaxBytes {
			layers = append(layers, options.Layer{Source: file.source, Where: file.in.Name, Findings: options.TooLarge()})
			continue
		}
		content, err := read(*file.in)
		if err != nil {
			return nil, fmt.Errorf("read the settings file %s: %w", file.in.Name, err)
		}
		layers = append(layers, options.FileLayer(file.source, file.in.Name, content))
	}
	return layers, nil
}

// shownFiles is how many files an error names.
const shownFiles = 5

func noSettingsFile(inputs []job.Input, chosen string) error {
	var names []string
	for _, in := range inputs {
		if slices.Contains([]string{".yaml", ".yml", ".json", ".py"}, path.Ext(in.Name)) {
			names = append(names, in.Name)
		}
	}
	there := "the dataset has none"
	if len(names) > 0 {
		there = "the dataset has " + text.ListSome(names, shownFiles, 60)
	}
	return job.Permanent(errors.New("there is no settings file " + text.Excerpt(chosen, 100) + " in the dataset: choose another one as config_file, or leave it empty (" + there + ")"))
}
