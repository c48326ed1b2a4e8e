package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform/folder"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
)

// repeat turns r into the run of a manifest: its settings, and its seed among them, are the parameters, unless the command
// line says otherwise. It warns of files that are not those of that run.
func (p *program) repeat(ctx context.Context, set Settings, path string, r *localRequest) (manifest.Manifest, error) {
	old, err := manifest.ReadManifest(path)
	if err != nil {
		return old, job.Permanent(fmt.Errorf("--from: %w", err))
	}
	if old.Kind != results.ResultTraining || old.Model == nil {
		return old, job.Permanent(fmt.Errorf("--from %s: it is not the manifest of a training: name the manifest.json beside its report", path))
	}
	all, err := extractors(set, volume.Volume{Dir: set.SharedDir})
	if err != nil {
		return old, err
	}
	given := r.parameters
	r.parameters = settingsOf(old, all[0].Info.Defaults())
	for name, value := range given {
		if name == "more_options" {
			value = fmt.Sprintf("%s\n%s", r.parameters[name], value)
		}
		r.parameters[name] = value
	}
	data, err := folder.New(r.dataset, r.out)
	if err != nil {
		return old, err
	}
	inputs, err := data.Inputs(ctx)
	if err != nil {
		return old, err
	}
	if files := old.Changed(inputs); len(files) > 0 {
		_, err = fmt.Fprintf(p.stdout, "Note: the data is not that of run %s, so the model will be another; these files differ: %s\n",
			old.Run, cut(strings.Join(files, ", "), 300))
	}
	return old, err
}

// settingsOf returns the settings of a run as a form takes them: what the form has no field for goes into more_options.
func settingsOf(m manifest.Manifest, form map[string]any) map[string]any {
	out := map[string]any{}
	var more []string
	settings := m.Parameters()
	for _, name := range sortedKeys(settings) {
		value := settings[name]
		// A file is known by its id in Clowder, and by its name here.
		for _, in := range m.Dataset.Files {
			if in.ID != "" && in.ID == value {
				value = in.Name
			}
		}
		if _, ok := form[name]; ok {
			out[name] = value
		} else if text := optionText(value); text != "" {
			more = append(more, name+": "+text)
		}
	}
	out["more_options"] = strings.Join(more, "\n")
	return out
}

// optionText is a value as more_options reads it.
func optionText(value any) string {
	if n, ok := value.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

// compare says whether the weights in out are those of the run that was repeated, and if not, what may be the cause.
func (p *program) compare(old manifest.Manifest, out string) error {
	made, err := manifest.ReadManifest(filepath.Join(out, "manifest.json"))
	if err != nil {
		return err
	}
	weights := ""
	if made.Model != nil {
		weights = made.Model.WeightsSHA256
	}
	if weights == old.Model.WeightsSHA256 {
		_, err = fmt.Fprintf(p.stdout, "The weights are the same as those of run %s: sha256 %s\n", old.Run, weights)
		return err
	}
	causes := old.Differences(made)
	if workers, ok := made.Parameters()["num_workers"].(float64); ok && workers > 1 {
		causes = append(causes, "several workers: their sums may come out another way in the last digits; with num_workers=1 they do not")
	}
	if len(causes) == 0 {
		causes = []string{"nothing that the manifests tell: a training on a GPU, or one that its time limit or a person ended, may end otherwise each time"}
	}
	_, err = fmt.Fprintf(p.stdout, "The weights are not those of run %s: sha256 %s instead of %s. What differs:\n  %s\n",
		old.Run, weights, old.Model.WeightsSHA256, strings.Join(causes, "\n  "))
	return err
}
