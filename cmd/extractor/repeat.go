package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/platform/folder"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/text"
)

// repeat sets the parameters of r to the settings of a manifest, including its seed. Parameters of the command line override
// them. It prints a warning if the files differ from the files of that run.
func (p *program) repeat(ctx context.Context, set settings.Settings, path string, r *localRequest) (manifest.Manifest, error) {
	old, err := manifest.ReadManifest(path)
	if err != nil {
		return old, job.Permanent(fmt.Errorf("--from: %w", err))
	}
	isScript := old.Kind == results.ResultScript && old.Script != nil
	if !isScript && (old.Kind != results.ResultTraining || old.Model == nil) {
		return old, job.Permanent(fmt.Errorf("--from %s: not the manifest of a training or a script: use the manifest.json next to its report", path))
	}
	all, err := extractors(set, volume.Volume{Dir: set.SharedDir})
	if err != nil {
		return old, err
	}
	given := r.parameters
	r.parameters = settingsOf(old, all[0].Info.Defaults())
	if isScript {
		r.extractor, r.parameters = scripter, scriptSettings(old, all)
	}
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
		_, err = fmt.Fprintf(p.stdout, "Warning: the data differs from run %s, so %s will differ too; changed files: %s\n",
			old.Run, madeBy(old), text.Excerpt(strings.Join(files, ", "), 300))
	}
	return old, err
}

// settingsOf returns the settings of a run as values of a form. Settings without a field in the form go into more_options.
func settingsOf(m manifest.Manifest, form map[string]any) map[string]any {
	out := map[string]any{}
	var more []string
	settings := m.Parameters()
	for _, name := range sortedKeys(settings) {
		value := settings[name]
		// Clowder knows a file by its id; a local job knows it by its name.
		for _, in := range m.Dataset.Files {
			if in.ID != "" && in.ID == value {
				value = in.Name
			}
		}
		if _, ok := form[name]; ok {
			out[name] = value
		} else if words := optionText(value); words != "" {
			more = append(more, name+": "+words)
		}
	}
	out["more_options"] = strings.Join(more, "\n")
	return out
}

// scriptSettings returns the settings of a script as values of its form.
func scriptSettings(m manifest.Manifest, all platform.Extractors) map[string]any {
	out := map[string]any{}
	for _, e := range all {
		if e.Kind != job.Script {
			continue
		}
		form := e.Info.Defaults()
		for name, value := range m.Parameters() {
			if _, ok := form[name]; ok {
				out[name] = value
			}
		}
	}
	out["script"] = m.Script.Entry
	return out
}

// madeBy is what a run makes, for a sentence.
func madeBy(m manifest.Manifest) string {
	if m.Script != nil {
		return "its files"
	}
	return "the model"
}

// optionText writes a value as more_options reads it.
func optionText(value any) string {
	if n, ok := value.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

// compare prints whether the weights in out, or the files of a script, are the same as in the repeated run, and if not, what differs.
func (p *program) compare(old manifest.Manifest, out string) error {
	made, err := manifest.ReadManifest(filepath.Join(out, "manifest.json"))
	if err != nil {
		return err
	}
	if old.Script != nil {
		return p.compareOutputs(old, made)
	}
	weights := ""
	if made.Model != nil {
		weights = made.Model.WeightsSHA256
	}
	if weights == old.Model.WeightsSHA256 {
		_, err = fmt.Fprintf(p.stdout, "The weights are the same as in run %s: sha256 %s\n", old.Run, weights)
		return err
	}
	causes := old.Differences(made)
	if workers, ok := made.Parameters()["num_workers"].(float64); ok && workers > 1 {
		causes = append(causes, "several workers: floating-point sums may differ; num_workers=1 avoids this")
	}
	if len(causes) == 0 {
		causes = []string{"no recorded difference: trainings on a GPU and trainings that were ended early are not reproducible"}
	}
	_, err = fmt.Fprintf(p.stdout, "The weights differ from run %s: sha256 %s instead of %s. Differences:\n  %s\n",
		old.Run, weights, old.Model.WeightsSHA256, strings.Join(causes, "\n  "))
	return err
}

// compareOutputs prints whether a script left the same files as in the repeated run, and if not, what differs.
func (p *program) compareOutputs(old, made manifest.Manifest) error {
	files := map[string]string{}
	for _, o := range made.Outputs {
		files[o.Path] = o.SHA256
	}
	var differ []string
	for _, o := range old.Outputs {
		name := strings.TrimPrefix(o.Path, results.OutDir)
		switch sum, ok := files[o.Path]; {
		case !ok:
			differ = append(differ, name+" (missing)")
		case sum != o.SHA256:
			differ = append(differ, name)
		}
		delete(files, o.Path)
	}
	for _, path := range sortedKeys(files) {
		differ = append(differ, strings.TrimPrefix(path, results.OutDir)+" (new)")
	}
	if len(differ) == 0 {
		_, err := fmt.Fprintf(p.stdout, "The files are the same as in run %s: %d of %d\n", old.Run, len(old.Outputs), len(old.Outputs))
		return err
	}
	causes := old.Differences(made)
	if made.Script != nil && made.Script.CodeSHA256 != old.Script.CodeSHA256 {
		causes = append(causes, "the code")
	}
	if len(causes) == 0 {
		causes = []string{"no recorded difference: the script may write the time, or use numbers that it does not seed"}
	}
	_, err := fmt.Fprintf(p.stdout, "The files differ from run %s: %s. Differences:\n  %s\n", old.Run, text.Excerpt(strings.Join(differ, ", "), 300), strings.Join(causes, "\n  "))
	return err
}
