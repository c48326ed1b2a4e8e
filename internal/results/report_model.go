package results

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// modelPart says what the model is and how to use it.
type modelPart struct {
	Facts []pair
	// Names are what to write into the field model of the extractor that predicts.
	Names    []string
	Snippet  string
	Baseline bool
}

func newModelPart(r *Result, m Meta) *modelPart {
	origin := "fine-tuned from " + plain(r.Model.Base, "")
	if r.Model.FromScratch {
		origin = plain(r.Model.Base, "") + ", trained from random weights"
	}
	part := &modelPart{Snippet: Snippet(r), Facts: []pair{
		{"Base", origin},
		{"License", license(r)},
		{"Size", fmt.Sprintf("%s parameters, %s", thousands(r.Model.Parameters), bytesOf(r.modelBytes()))},
		{"Reads", shorten(r.Model.reads(), maxText)},
	}}
	if r.isRegression() {
		part.Facts = append(part.Facts, pair{"Answers", "a number in the unit of " + plain(r.Data.LabelColumn, "the target")})
	} else {
		part.Facts = append(part.Facts, pair{"Answers", plain(someWords(r.Model.Labels, 30), "")})
	}
	if name := plain(m.Model.Name, ""); name != "" {
		part.Names = append(part.Names, fmt.Sprintf("%s/%d", name, m.Model.Version))
		champion := fmt.Sprintf("The best version so far is %s.", plain(m.Model.Champion, "not known"))
		if m.Model.BestSoFar {
			part.Names = append(part.Names, name+"@champion")
			champion = "It is the best version so far."
		}
		part.Facts = append(part.Facts, pair{"Version", part.Names[0] + ". " + champion})
	} else {
		part.Names = append(part.Names, plain(m.Run, r.Run))
	}
	if w := r.Model.WeightsSHA256; w != "" {
		part.Facts = append(part.Facts, pair{"Weights", "sha256 " + shorten(w, 19)})
	}
	_, part.Baseline = r.output(outDir + "baseline/config.json")
	return part
}

// modelBytes is the size of the folder of the model.
func (r *Result) modelBytes() int64 {
	var n int64
	for _, o := range r.Outputs {
		if strings.HasPrefix(o.Path, modelDir) {
			n += o.Size
		}
	}
	return n
}

// settingRow is an option as it was used.
type settingRow struct{ Name, Value, Source string }

func settingRows(r *Result) []settingRow {
	var rows []settingRow
	for _, s := range r.Settings[:min(len(r.Settings), maxRows)] {
		source := plain(s.Source, "")
		if source == sourceChosen {
			source = "found automatically"
		}
		rows = append(rows, settingRow{plain(s.Name, ""), settingText(s.Value), source})
	}
	return rows
}

// settingText writes the value of a setting as a person would.
func settingText(v any) string {
	switch v := v.(type) {
	case nil:
		return "not set"
	case string:
		return plain(v, "not set")
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	default:
		return plain(fmt.Sprint(v), "not set")
	}
}

// repeatPart says how to get the same model again.
type repeatPart struct {
	Facts []pair
	// File is a finetune.yaml that makes the training again in Clowder, Command does it on a folder.
	File, Command string
	Files         []pair
}

func newRepeatPart(r *Result, m Meta) repeatPart {
	part := repeatPart{Files: fileFacts(m), Facts: []pair{{"Data", "sha256 " + shorten(dataDigest(m.Inputs), 19)}}}
	sum := sha256.New()
	if err := writeManifest(sum, m, r); err == nil {
		part.Facts = append(part.Facts, pair{"Manifest", "sha256 " + shorten(hex.EncodeToString(sum.Sum(nil)), 19)})
	}
	if r.Kind == ResultTraining {
		part.File, part.Command = settingsFile(r), "extractor run --from manifest.json DATASET --out OUT"
		part.Facts = append(part.Facts, pair{"Seed", strconv.FormatInt(r.Training.Seed, 10)})
	}
	if r.Data.SplitSHA256 != "" {
		part.Facts = append(part.Facts, pair{"Split of the rows", "sha256 " + shorten(plain(r.Data.SplitSHA256, ""), 19)})
	}
	return part
}

// settingsFile is a finetune.yaml with the options that somebody decided, and those that the trainer found. Each value is
// written as JSON, which YAML reads.
func settingsFile(r *Result) string {
	once := []string{"run_name", "dry_run", "seed"}
	lines := []string{fmt.Sprintf("seed: %d", r.Training.Seed)}
	for _, s := range r.Settings {
		if s.Source == "default" || s.Value == nil || slices.Contains(once, s.Name) || len(lines) == maxRows {
			continue
		}
		value := s.Value
		if text, ok := value.(string); ok {
			value = plain(text, "")
		}
		if doc, err := json.Marshal(value); err == nil && len(doc) <= 4*maxText {
			lines = append(lines, plain(s.Name, "")+": "+string(doc))
		}
	}
	return strings.Join(lines, "\n")
}

// fileFacts are the inputs with the beginning of their sha256, enough to tell whether a file has changed.
func fileFacts(m Meta) []pair {
	var out []pair
	for _, in := range sortedInputs(m.Inputs) {
		if len(out) == maxRows {
			break
		}
		out = append(out, pair{plain(in.Name, ""), fmt.Sprintf("%s bytes, sha256 %s", thousands(in.Size), shorten(plain(in.SHA256, ""), 19))})
	}
	return out
}

// license says what decides on the use of the model; the model card says it at length.
func license(r *Result) string {
	switch {
	case r.Model.FromScratch:
		return "the terms of the data alone decide how it may be used"
	case r.Model.License != "":
		return plain(r.Model.License, "") + ", as the card of the base model says; the terms of the data hold too"
	default:
		return "the files of the base model name none: look it up before you pass this one on; the terms of the data hold too"
	}
}
