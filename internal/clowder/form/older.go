package form

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/options"
	"github.com/ncsa/clowder-ray/internal/text"
)

// older are the names of fields in the forms of earlier extractors for Clowder, with the field that means the same. People have them in scripts.
//
//nolint:gochecknoglobals // a table
var older = map[string]string{
	"MODEL_NAME": "model", "MODEL_FILE_ID": "model_file", "CONFIG_FILE_ID": "config_file", "CONFIG_FILE": "config_file",
	"LOCAL_TRAIN_FILE_ID": "data_file", "TRAIN_FILE_ID": "data_file", "TRAIN_FILE": "data_file", "TRAIN_FOLDER": "data_file", "DATASET_FILE_ID": "data_file",
	"LOCAL_TEST_FILE_ID": "test_file", "TEST_FILE_ID": "test_file", "TEST_FILE": "test_file", "TEST_FOLDER": "test_file",
	"LOCAL_VALIDATION_FILE_ID": "validation_file", "VAL_FILE": "validation_file", "VAL_FOLDER": "validation_file", "VALIDATION_FOLDER": "validation_file",
	"ANNOTATION_FILE": "annotation_file", "LABEL_FILE": "annotation_file",
	"BATCH_SIZE": "batch_size", "LEARNING_RATE": "learning_rate", "NUM_EPOCHS": "epochs", "CONFIDENCE_THRESHOLD": "min_confidence",
}

// needless are such fields that nothing replaces, with what is done in their place.
//
//nolint:gochecknoglobals // a table
var needless = map[string]string{
	"NUM_LABELS":            "the labels are counted in the data",
	"DATA_TYPE":             "the format of a file is detected",
	"MODEL_FILE_NAME":       "results are named after the run, see run_name",
	"PREDICTIONS_FILE_NAME": "results are named after the run, see run_name",
	"BASE_MODEL_NAME":       "a model knows its tokenizer",
	"HF_DATASET_NAME":       "add the data to the dataset, since nothing is downloaded from a hub",
	"NUM_TRAIN_EXAMPLES":    "see max_examples",
	"NUM_TEST_EXAMPLES":     "see test_fraction",
	"WANDB_PROJECT_NAME":    "results are in the report and in TensorBoard files",
}

// olderField returns the field of the form that an old name stands for, or nil.
func (i *Info) olderField(name string) *field {
	target := older[strings.ToUpper(name)]
	at := slices.IndexFunc(i.form, func(f field) bool {
		return target != "" && f.Name == i.fullName(target)
	})
	if at < 0 || i.has(func(f field) bool { return f.Name == name }) {
		return nil
	}
	return &i.form[at]
}

// renamed returns the parameters with the fields of the form in place of old names, and a note for each.
func (i *Info) renamed(raw map[string]any) (map[string]any, []string) {
	out := maps.Clone(raw)
	var notes []string
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		f := i.olderField(name)
		if f == nil {
			continue
		}
		delete(out, name)
		if set, _ := f.value(out[f.Name]); set != nil {
			notes = append(notes, fmt.Sprintf("Ignored the old name %s, because %s is set", name, f.Name))
			continue
		}
		out[f.Name] = raw[name]
		notes = append(notes, fmt.Sprintf("Read the old name %s as %s", name, f.Name))
	}
	return out, notes
}

// CheckNames returns a permanent error for parameters that no form had, with the field that is meant where one has nearly that name. It is for
// a command line, where a person can correct a name at once: a job ignores such parameters with a warning.
func (i *Info) CheckNames(raw map[string]any) error {
	raw, _ = i.renamed(i.ungrouped(i.withoutFolders(raw)))
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		upper := strings.ToUpper(name)
		if i.has(func(f field) bool { return f.Name == name }) || needless[upper] != "" || older[upper] != "" {
			continue
		}
		said := "There is no parameter " + options.WithoutSecrets(text.Excerpt(name, maxUnknownName))
		if meant := options.Nearest(strings.ToLower(name[strings.LastIndex(name, ".")+1:]), i.ownNames()); meant != "" {
			said += ": do you mean " + meant + "?"
		}
		wrong = append(wrong, said)
	}
	if len(wrong) == 0 {
		return nil
	}
	return job.Permanent(errors.New(strings.Join(wrong[:min(len(wrong), maxUnknown)], ". ")))
}

// ownNames are the names of the fields without those of their groups.
func (i *Info) ownNames() []string {
	names := make([]string, 0, len(i.form))
	for _, f := range i.form {
		names = append(names, f.Name[strings.LastIndex(f.Name, ".")+1:])
	}
	return names
}

// unknown is the warning about a parameter that the form does not have. It never repeats the value.
func (i *Info) unknown(name string) string {
	shown := options.WithoutSecrets(text.Excerpt(name, maxUnknownName))
	upper := strings.ToUpper(name)
	switch {
	case needless[upper] != "":
		return fmt.Sprintf("Ignored the parameter %s of an older extractor: %s", shown, needless[upper])
	case older[upper] != "":
		return fmt.Sprintf("Ignored the parameter %s of an older extractor: this form has no %s, which replaces it", shown, older[upper])
	case options.IsSecret(name):
		return fmt.Sprintf("Ignored the parameter %s: this service takes no keys. Its value is not kept here, but Clowder has it in the job: replace the key", shown)
	default:
		return "Ignored the unknown parameter " + shown
	}
}
