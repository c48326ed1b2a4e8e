package delivery

import (
	"cmp"
	"image/png"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
)

// maxDescribed is how many files and pictures a kind adds to those of all trainings.
const maxDescribed = 20

// describedFiles are the files in the folder of results that the trainer describes, as they are. Pages stay in the folder: the trainer is not
// trusted, and they would be drawn.
func describedFiles(root *os.Root, r *results.Result) []deliverable {
	var list []deliverable
	ordered := slices.Clone(r.Outputs)
	slices.SortStableFunc(ordered, func(a, b results.Output) int { // parts of the model are with the model, behind the others
		return cmp.Compare(rankOf(a), rankOf(b))
	})
	for _, o := range ordered {
		name := strings.TrimPrefix(o.Path, results.OutDir)
		if o.Title == "" || o.Path == results.PredictionsFile || strings.Contains(name, "/") || isPage(name) || o.OfModel && upload(r) == uploadReport || len(list) == maxDescribed {
			continue
		}
		a := Artifact{Name: name, ContentType: outputType(name), Title: results.Plain(o.Title, name), Description: results.Plain(o.Text, "")}
		if o.Shown && isSmallPicture(root, o) {
			a.ContentType, a.Show = typePNG, ShowPicture
		}
		list = append(list, deliverable{a, func(w io.Writer) error { return results.CopyOutput(w, root, o) }})
	}
	return list
}

// The limits of a picture of the trainer that is shown, so that a browser that draws it needs little memory.
const (
	maxShownBytes = 4 << 20
	maxShownSide  = 4096 // pixels
)

// isSmallPicture reports whether a file begins as a PNG within these limits. One that does not is delivered like any other file.
func isSmallPicture(root *os.Root, o results.Output) bool {
	if o.Size > maxShownBytes {
		return false
	}
	f, err := results.OpenOutput(root, o)
	if err != nil {
		return false // its copy says why
	}
	defer func() { _ = f.Close() }()
	c, err := png.DecodeConfig(f)
	return err == nil && c.Width <= maxShownSide && c.Height <= maxShownSide
}

func rankOf(o results.Output) int {
	if o.OfModel {
		return 1
	}
	return 0
}

// blockPictures are the charts of sections that have a name as a file.
func blockPictures(r *results.Result) []deliverable {
	var list []deliverable
	names := map[string]bool{"loss": true, "confusion": true, "predicted": true}
	for _, s := range r.Sections {
		for _, b := range s.Blocks {
			if b.Chart == nil || b.Chart.File == "" || names[b.Chart.File] || len(list) == maxDescribed {
				continue
			}
			picture := chart.OfBlock(b)
			if picture == nil {
				continue
			}
			names[b.Chart.File] = true
			list = append(list, deliverable{
				Artifact{
					Name: "plots/" + b.Chart.File + ".png", ContentType: typePNG, Show: ShowImage,
					Title: picture.Title + " (picture)", Description: picture.Summary,
				},
				func(w io.Writer) error { return chart.WritePNG(w, picture) },
			})
		}
	}
	return list
}
