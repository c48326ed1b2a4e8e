package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/text"
)

// modelPart says what the model is and how to use it.
type modelPart struct {
	Facts []pair
	// Names are what to write into the field model of the extractor that predicts.
	Names    []string
	Snippet  string
	Baseline bool
}

func newModelPart(r *results.Result, m manifest.Meta) *modelPart {
	origin := "fine-tuned from " + results.Plain(r.Model.Base, "") + atCommit(r)
	switch {
	case r.Usage.Origin != "":
		origin = results.Plain(r.Usage.Origin, "")
	case r.IsEstimator():
		origin = results.Plain(r.Model.Base, "") + ", fitted to this data alone"
	case r.Model.FromScratch:
		origin = results.Plain(r.Model.Base, "") + ", trained from random weights"
	}
	if averaged := results.Plain(r.Model.AveragedWith, ""); averaged != "" {
		origin += ", averaged with " + averaged
	}
	part := &modelPart{Snippet: snippetOf(r), Facts: []pair{
		{"Base", origin},
		{"License", license(r)},
		{"Size", fmt.Sprintf("%s parameters, %s", text.Number(r.Model.Parameters), text.Bytes(modelBytes(r)))},
		{"Input", reads(r)},
	}}
	part.Facts = append(part.Facts, pair{"Output", answers(r, "")})
	if name := results.Plain(m.Model.Name, ""); name != "" {
		part.Names = append(part.Names, fmt.Sprintf("%s/%d", name, m.Model.Version))
		champion := fmt.Sprintf("The current champion is %s.", results.Plain(m.Model.Champion, "not known"))
		if m.Model.BestSoFar {
			part.Names = append(part.Names, name+"@champion")
			champion = "It is the current champion."
		}
		part.Facts = append(part.Facts, pair{"Version", part.Names[0] + ". " + champion})
	} else {
		part.Names = append(part.Names, results.Plain(m.Run, r.Run))
	}
	if w := r.Model.WeightsSHA256; w != "" {
		part.Facts = append(part.Facts, pair{"Weights", "sha256 " + text.Shorten(w, 19)})
	}
	_, part.Baseline = r.Output(results.OutDir + "baseline/config.json")
	return part
}

// modelBytes is the size of the folder of the model.
func modelBytes(r *results.Result) int64 {
	var n int64
	for _, o := range r.Outputs {
		if strings.HasPrefix(o.Path, results.ModelDir) {
			n += o.Size
		}
	}
	return n
}

// settingRow is an option as it was used.
type settingRow struct{ Name, Value, Source string }

func settingRows(r *results.Result) []settingRow {
	var rows []settingRow
	for _, s := range r.Settings[:min(len(r.Settings), maxSettings)] {
		source := results.Plain(s.Source, "")
		if source == results.SourceChosen {
			source = "chosen automatically"
		}
		rows = append(rows, settingRow{results.Plain(s.Name, ""), settingText(s.Value), source})
	}
	return rows
}

// settingText writes the value of a setting as a person would.
func settingText(v any) string {
	switch v := v.(type) {
	case nil:
		return "not set"
	case string:
		return results.Plain(v, "not set")
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	default:
		return results.Plain(fmt.Sprint(v), "not set")
	}
}

// repeatPart says how to get the same model again.
type repeatPart struct {
	Facts []pair
	// File is a finetune.yaml that makes the training again in Clowder, Command does it on a folder.
	File, Command string
	// Same is what Command compares: "the model".
	Same  string
	Files []pair
}

func newRepeatPart(r *results.Result, m manifest.Meta) repeatPart {
	part := repeatPart{Files: fileFacts(m), Facts: []pair{{"Data", "sha256 " + text.Shorten(manifest.DataDigest(m.Inputs), 19)}}}
	sum := sha256.New()
	if err := manifest.Write(sum, m, r); err == nil {
		part.Facts = append(part.Facts, pair{"Manifest", "sha256 " + text.Shorten(hex.EncodeToString(sum.Sum(nil)), 19)})
	}
	if r.Kind == results.ResultTraining {
		part.File, part.Command, part.Same = settingsFile(r), "extractor run --from manifest.json DATASET --out OUT", "the model"
		part.Facts = append(part.Facts, pair{"Seed", strconv.FormatInt(r.Training.Seed, 10)})
	}
	if r.Kind == results.ResultScript {
		part.Command, part.Same = "extractor run --from manifest.json DATASET --out OUT", "the files"
	}
	if r.Data.SplitSHA256 != "" {
		part.Facts = append(part.Facts, pair{"Row split", "sha256 " + text.Shorten(results.Plain(r.Data.SplitSHA256, ""), 19)})
	}
	return part
}

// settingsFile is a finetune.yaml with the options that somebody decided, and those that the trainer found. Each value is
// written as JSON, which YAML reads.
func settingsFile(r *results.Result) string {
	once := []string{"run_name", "dry_run", "seed", "trials", "minutes", "space"}
	lines := []string{fmt.Sprintf("seed: %d", r.Training.Seed)}
	for _, s := range r.Settings {
		if s.Source == "default" || s.Value == nil || slices.Contains(once, s.Name) || len(lines) == maxRows {
			continue
		}
		value := s.Value
		if words, ok := value.(string); ok {
			value = results.Plain(words, "")
		}
		if doc, err := json.Marshal(value); err == nil && len(doc) <= 4*results.MaxText {
			lines = append(lines, results.Plain(s.Name, "")+": "+string(doc))
		}
	}
	return strings.Join(lines, "\n")
}

// fileFacts are the inputs with the beginning of their sha256, enough to tell whether a file has changed.
func fileFacts(m manifest.Meta) []pair {
	var out []pair
	for _, in := range manifest.SortedInputs(m.Inputs) {
		if len(out) == maxRows {
			break
		}
		out = append(out, pair{results.Plain(in.Name, ""), fmt.Sprintf("%s bytes, sha256 %s", text.Number(in.Size), text.Shorten(results.Plain(in.SHA256, ""), 19))})
	}
	return out
}

// atCommit says which commit of its repository the base model is, where that is known.
func atCommit(r *results.Result) string {
	const shown = 12
	if r.Model.BaseCommit == "" {
		return ""
	}
	commit := results.Plain(r.Model.BaseCommit, "")
	return " at commit " + commit[:min(shown, len(commit))]
}

// license says what decides on the use of the model; the model card says it at length.
func license(r *results.Result) string {
	switch {
	case r.Model.FromScratch:
		return "only the terms of the data apply"
	case r.Model.License != "":
		return results.Plain(r.Model.License, "") + " (from the card of the base model); the terms of the data also apply"
	default:
		return "not named in the files of the base model: look it up before you share this model; the terms of the data also apply"
	}
}
