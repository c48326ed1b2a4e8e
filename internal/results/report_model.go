package results

import (
	"fmt"
	"strconv"
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
		{"Parameters", thousands(r.Model.Parameters)},
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
	Facts   []pair
	Command string
	Files   []pair
}

func newRepeatPart(r *Result, m Meta) repeatPart {
	part := repeatPart{Files: fileFacts(m), Facts: []pair{{"Data", "sha256 " + shorten(dataDigest(m.Inputs), 19)}}}
	if r.Kind == ResultTraining {
		part.Command = "extractor run --from manifest.json DATASET --out OUT"
		part.Facts = append(part.Facts, pair{"Seed", strconv.FormatInt(r.Training.Seed, 10)})
	}
	if r.Data.SplitSHA256 != "" {
		part.Facts = append(part.Facts, pair{"Split of the rows", "sha256 " + shorten(plain(r.Data.SplitSHA256, ""), 19)})
	}
	return part
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
