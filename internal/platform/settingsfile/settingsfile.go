// Package settingsfile reads what the settings file of a dataset asks of the service itself. All other settings are the trainer's.
package settingsfile

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ncsa/clowder-ray/internal/job"
)

// MaxBytes is the size of the largest settings file that is read. The trainer has the same limit.
const MaxBytes = 1 << 20

// Options are what a settings file asks for.
type Options struct {
	// Predict asks for a prediction of files that are added later.
	Predict bool
	// LabelFrom names the metadata of files that holds their labels, empty for none.
	LabelFrom string
}

// Is reports whether a file of a dataset, named with its folders, holds settings instead of data.
func Is(name string) bool {
	return slices.Contains([]string{"finetune.yaml", "finetune.yml", "finetune.json"}, strings.ToLower(path.Base(name)))
}

// Better reports whether the settings file a counts where b is in the dataset, too: the one nearest to the top does. The trainer has the
// same rule.
func Better(a, b string) bool {
	if above, below := strings.Count(a, "/"), strings.Count(b, "/"); above != below {
		return above < below
	}
	return a < b
}

// Parse reads the settings file with this name. The error is permanent, and says what is wrong for its user.
func Parse(name string, doc []byte) (o Options, err error) {
	defer func() {
		if err != nil {
			err = job.Permanent(fmt.Errorf("%s: %w", name, err))
		}
	}()
	if len(doc) > MaxBytes {
		return o, errors.New("the file is larger than 1 MiB: shorten it")
	}
	var options map[string]any
	if err := yaml.Unmarshal(doc, &options); err != nil {
		return o, fmt.Errorf("the file cannot be read (%w): write lines like automatic: predict", err)
	}
	switch value := options["automatic"]; value {
	case nil, "", "no", false:
	case "predict":
		o.Predict = true
	default:
		return o, errors.New("automatic must be predict or no: correct the line")
	}
	group, _ := options["data"].(map[string]any)
	for _, value := range []any{options["label_from"], options["data.label_from"], group["label_from"]} {
		if from, ok := value.(string); ok && from != "" {
			o.LabelFrom = from
		}
	}
	return o, nil
}
