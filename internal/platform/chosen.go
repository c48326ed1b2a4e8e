package platform

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder/pick"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// What the fields that name data choose their files for. Data is what nobody divides.
const (
	dataFile = "data_file"
	data     = "data"
	train    = "train"
)

// purposes are the folders that tell the trainer what a field of the form has chosen a file for. Only the fields of one file have no place
// among the data.
//
//nolint:gochecknoglobals // a table
var purposes = map[string]string{
	dataFile: data, "validation_file": "validation", "test_file": "test", "annotation_file": "labels", "config_file": "settings", "model_file": "model",
}

// ofData are the fields that name data, which may be several files.
//
//nolint:gochecknoglobals // a table
var ofData = []string{dataFile, "validation_file", "test_file", "annotation_file"}

// NameSingle returns the settings with the ids of the files that the platform has found in the fields of one file, in place of what the form
// says.
func (e Extractor) NameSingle(settings job.Settings, inputs []job.Input) (job.Settings, error) {
	values := maps.Clone(settings.Values)
	for _, f := range e.Info.Fields() {
		if !f.File || slices.Contains(ofData, f.Name) {
			continue
		}
		var files []job.Input
		for _, in := range inputs {
			if in.Chosen != nil && in.Chosen.Field == f.Name {
				files = append(files, in)
			}
		}
		switch {
		case len(files) > 1:
			return settings, job.Permanent(fmt.Errorf("%s must be one file, and not %s: choose one of them", f.Name, text.Count(len(files), "file")))
		case len(files) == 1:
			values[f.Name] = files[0].ID
		default:
			values[f.Name] = nameIn(values[f.Name])
		}
	}
	return job.NewSettings(values), nil
}

// nameIn returns the name in what a selector sends without an id, and any other value as it is.
func nameIn(value any) any {
	words, _ := value.(string)
	if picks, err := pick.Parse(words); err == nil && len(picks) == 1 && picks[0].ID == "" {
		return picks[0].Name
	}
	return value
}

// Choose gives the files that the options choose for a purpose the name that says so, whatever source an option is from. The values of these
// options become names of files. The platform has marked those that the form names; of another source the files of the dataset are chosen by
// their ids, names and paths. The errors are permanent and for the user.
func Choose(values map[string]any, inputs []job.Input) error {
	chosen := map[string][]int{}
	for _, field := range ofData {
		value, _ := values[field].(string)
		if strings.TrimSpace(value) == "" {
			continue
		}
		if err := markNamed(field, value, inputs); err != nil {
			return err
		}
		for i, in := range inputs {
			if in.Chosen != nil && in.Chosen.Field == field {
				chosen[field] = append(chosen[field], i)
			}
		}
		if len(chosen[field]) == 0 && (field != dataFile || !isPlain(value)) {
			return job.Permanent(fmt.Errorf("no file is left for %s: another field names all of its files, so choose others", field))
		}
	}
	renameSingle(inputs)
	if alone(values, chosen, inputs) {
		return nil // the trainer chooses the file by its name
	}
	rename(chosen, inputs)
	for field, files := range chosen {
		names := make([]string, len(files))
		for n, i := range files {
			names[n] = inputs[i].Name
		}
		values[field] = text.ListSome(names, 3, 100)
	}
	return nil
}

// alone reports whether only data_file is set, to a file of the dataset.
func alone(values map[string]any, chosen map[string][]int, inputs []job.Input) bool {
	value, _ := values[dataFile].(string)
	files := chosen[dataFile]
	if len(files) != len(chosenFiles(chosen)) || !isPlain(value) {
		return false
	}
	return len(files) == 0 || len(files) == 1 && inputs[files[0]].Source == "" && inputs[files[0]].Chosen.Exact >= job.ExactFile
}

func chosenFiles(chosen map[string][]int) (all []int) {
	for _, files := range chosen {
		all = append(all, files...)
	}
	return all
}

// isPlain reports whether a value is an id, a name or a path as people write it, and so as the trainer reads it.
func isPlain(value string) bool {
	picks, err := pick.Parse(value)
	return err == nil && len(picks) == 1 && (picks[0].ID == value || picks[0].Name == value)
}

// rename gives the chosen files their names. Data that are divided are named so.
func rename(chosen map[string][]int, inputs []job.Input) {
	divided := len(chosen["validation_file"])+len(chosen["test_file"]) > 0
	taken := map[string]bool{}
	for _, field := range ofData {
		for _, i := range chosen[field] {
			purpose := purposes[field]
			if field == dataFile && divided {
				purpose = train
			}
			choice := *inputs[i].Chosen
			name := choice.ChosenName(purpose)
			if taken[name] { // two folders or datasets of one name
				choice.Where = append(slices.Clone(choice.Where), inputs[i].ID)
				name = choice.ChosenName(purpose)
			}
			taken[name], inputs[i].Name = true, name
		}
	}
}

// renameSingle gives files of other datasets that are no data the names that say so.
func renameSingle(inputs []job.Input) {
	for i, in := range inputs {
		if in.Chosen != nil && in.Source != "" && !slices.Contains(ofData, in.Chosen.Field) && purposes[in.Chosen.Field] != "" {
			inputs[i].Name = in.Chosen.ChosenName(purposes[in.Chosen.Field])
		}
	}
}

// markNamed marks the files of the dataset that a field names. The platform has marked those that the form names by ids and by paths, and has
// refused ids that it did not find.
func markNamed(field, value string, inputs []job.Input) error {
	picks, err := pick.Parse(value)
	if err != nil {
		return job.Permanent(fmt.Errorf("%s %w", field, err))
	}
	ofForm := slices.ContainsFunc(inputs, func(in job.Input) bool { return in.Chosen != nil && in.Chosen.Field == field })
	for _, p := range picks {
		if ofForm && (p.ID != "" || p.Dataset != "") {
			continue
		}
		marked := false
		for i, in := range inputs {
			if in.Source != "" {
				continue
			}
			if c := nameOf(p, in, inputs); c != nil {
				c.Field, marked = field, true
				if err := Mark(&inputs[i], *c); err != nil {
					return err
				}
			}
		}
		if !marked && (field != dataFile || !isPlain(value)) { // the trainer says what data_file may be
			return job.Permanent(errors.New("there is no file or folder " + p.Shown() + " in the dataset: choose another one as " + field + ", or leave it empty"))
		}
	}
	return nil
}

// nameOf returns how a pick names a file of the dataset, nil where it does not. A base name counts where no path is the same.
func nameOf(p pick.Pick, in job.Input, all []job.Input) *job.Choice {
	switch {
	case p.ID != "" && p.ID == in.ID, p.Kind != pick.Folder && p.Name == in.Name:
		return &job.Choice{Inner: path.Base(in.Name), Exact: job.ExactFile}
	case p.Name == "" || p.ID != "":
		return nil
	case strings.HasPrefix(in.Name, p.Name+"/"):
		return &job.Choice{Where: []string{p.Name}, Inner: in.Name[len(p.Name)+1:], Exact: strings.Count(p.Name, "/") + 1}
	}
	isBase := func(in job.Input) bool { return p.Kind != pick.Folder && p.Name == path.Base(in.Name) }
	if isBase(in) && !slices.ContainsFunc(all, func(other job.Input) bool {
		return p.Name == other.Name || strings.HasPrefix(other.Name, p.Name+"/")
	}) {
		return &job.Choice{Inner: path.Base(in.Name), Exact: job.ExactFile}
	}
	return nil
}

// Mark notes that a field names a file. Of several fields the one counts that names it most closely: a test file in the folder of the training
// data is no training data. Two that name it equally are an error, which is permanent.
func Mark(in *job.Input, c job.Choice) error {
	before := in.Chosen
	switch {
	case before == nil || before.Exact < c.Exact:
		in.Chosen = &c
	case before.Exact == c.Exact && before.Field != c.Field && slices.Contains(ofData, c.Field) && slices.Contains(ofData, before.Field):
		return job.Permanent(fmt.Errorf("%s and %s both name %s, and a file has one use: choose another one for one of them",
			before.Field, c.Field, text.Excerpt(in.Name, 80)))
	}
	return nil
}
