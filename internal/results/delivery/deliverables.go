package delivery

import (
	"context"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/results/report"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/text"
)

// The content types decide what Clowder v2 draws on the page of a file, so they are chosen by what it does with them:
// every application/json is drawn as a Vega-Lite chart, so only the one that is such a chart has it and the others are plain
// text, which is shown as text; application/zip is drawn as an empty map, and the other name of the type is left alone.
const (
	typeText     = "text/plain"
	typeMarkdown = "text/markdown"
	typeCSV      = "text/csv"
	typePNG      = "image/png"
	typeHTML     = "text/html"
	typeVega     = "application/json"
	typeZip      = "application/x-zip-compressed"
	typeBytes    = "application/octet-stream"
)

// The values of the setting upload: what of a training is handed over.
const (
	uploadAll    = "everything"
	uploadReport = "report_only"
)

// upload is what the user wants handed over, empty for the usual.
func upload(r *results.Result) string { return r.Setting("upload") }

// deliverables lists what the user gets.
func deliverables(ctx context.Context, root *os.Root, events []results.Event, r *results.Result, m manifest.Meta) []deliverable {
	list := []deliverable{
		{
			Artifact{
				Name: "log.txt", ContentType: typeText,
				Title:       "Log",
				Description: "What the run did and what it printed.",
			},
			func(w io.Writer) error { return writeLog(w, root, events) },
		},
		{
			Artifact{
				Name: "manifest.json", ContentType: typeText,
				Title:       "Manifest",
				Description: "Inputs, settings, versions and outputs of the run, with their hashes.",
			},
			func(w io.Writer) error { return manifest.Write(w, m, r) },
		},
	}
	if r.Kind == results.ResultTraining {
		list = append(list, boards(root, r)...)
		list = append(list, deliverable{
			Artifact{
				Name: "model_card.md", ContentType: typeMarkdown,
				Title:       "Model card",
				Description: "What the model is, how well it performs, and its limits.",
			},
			func(w io.Writer) error { return report.WriteCard(w, m, r) },
		})
		list = append(list, pictures(chart.NewCurves(events, r), r)...)
	}
	if o, ok := r.Output(results.PredictionsFile); ok {
		list = append(list, deliverable{
			Artifact{
				Name: "predictions.csv", ContentType: typeCSV,
				Title:       "Predictions",
				Description: predictionsWords(r),
			},
			func(w io.Writer) error { return results.CopyOutput(w, root, o) },
		})
	}
	behind := len(list)
	if r.Kind == results.ResultTraining {
		list = append(list, models(ctx, root, r, m)...)
	}
	if r.Kind == results.ResultScript {
		list = append(list, scriptFiles(ctx, root, r, m)...)
	}
	list = append(list, answers(ctx, root, r, m)...)
	list = append(list, deliverable{
		Artifact{
			Name: "report.html", ContentType: typeHTML, Show: ShowHTML,
			Title:       "Report",
			Description: report.NewVerdict(r).Sentence,
		},
		func(w io.Writer) error {
			if r.Kind == results.ResultScript {
				return report.WriteScript(w, events, r, m, reportFiles(root))
			}
			return report.Write(w, events, r, m)
		},
	})
	if r.Kind != results.ResultScript {
		list = slices.Insert(list, behind, withFreeNames(describedFiles(root, r), list)...)
	}
	return list
}

// answers are the answers of a prediction that are files of their own, in one archive.
func answers(ctx context.Context, root *os.Root, r *results.Result, m manifest.Meta) []deliverable {
	if r.Kind != results.ResultPrediction || !hasFilesIn(r, results.AnswersDir) {
		return nil
	}
	return []deliverable{{
		Artifact{
			Name: "answers.zip", ContentType: typeZip,
			Title:       "Answers as files",
			Description: "A file with the answer for each file of the dataset, under the same name.",
		},
		func(w io.Writer) error {
			return newArchive(w, m.Started).finish(ctx, root, r.Outputs, results.AnswersDir, "answers/")
		},
	}}
}

// withFreeNames returns the files whose names no file of the service has, each name once.
func withFreeNames(described, others []deliverable) []deliverable {
	taken := map[string]bool{}
	for _, d := range others {
		taken[strings.ToLower(d.Name)] = true
	}
	return slices.DeleteFunc(described, func(d deliverable) bool {
		name := strings.ToLower(d.Name)
		defer func() { taken[name] = true }()
		return taken[name]
	})
}

func predictionsWords(r *results.Result) string {
	if r.Kind == results.ResultPrediction {
		return "The prediction for every " + r.Prediction.Unit() + "."
	}
	if o, ok := r.Output(results.PredictionsFile); ok && o.Text != "" {
		return results.Plain(o.Text, "")
	}
	return "Every test " + r.Unit() + " with its label and the prediction."
}

// models are the metrics and the archives. The simple model comes along where there is one.
func models(ctx context.Context, root *os.Root, r *results.Result, m manifest.Meta) []deliverable {
	list := []deliverable{{
		Artifact{
			Name: "metrics.json", ContentType: typeText,
			Title:       "Metrics",
			Description: "Scores on the training, validation and test rows, and the resources of each worker.",
		},
		func(w io.Writer) error { return results.WriteJSON(w, newDeliveredMetrics(r)) },
	}}
	if upload(r) == uploadReport {
		return list
	}
	if b := r.Baseline(results.RoleSimple); b != nil && hasFilesIn(r, results.BaselineDir) {
		list = append(list, deliverable{
			Artifact{
				Name: "baseline.zip", ContentType: typeZip,
				Title:       "Baseline model",
				Description: "The " + text.Shorten(results.Plain(b.Title, "baseline"), 60) + ", the baseline for the model.",
			},
			func(w io.Writer) error { return writeBaseline(ctx, w, root, m, r) },
		})
	}
	return append(list, deliverable{
		Artifact{
			Name: "model.zip", ContentType: typeZip,
			Title:       "Model",
			Description: "The trained model with its card and instructions to load it.",
		},
		func(w io.Writer) error { return writeArchive(ctx, w, root, m, r) },
	})
}

// hasFilesIn reports whether the trainer handed over files in a folder.
func hasFilesIn(r *results.Result, folder string) bool {
	return slices.ContainsFunc(r.Outputs, func(o results.Output) bool { return strings.HasPrefix(o.Path, folder) })
}

// boards are TensorBoard's files, for those who asked for everything.
func boards(root *os.Root, r *results.Result) []deliverable {
	var list []deliverable
	for _, o := range r.Outputs {
		if results.IsBoard(o.Path) && upload(r) == uploadAll {
			list = append(list, deliverable{
				Artifact{
					Name: "tensorboard/" + path.Base(o.Path), ContentType: typeBytes,
					Title:       "TensorBoard",
					Description: "The training curves for TensorBoard.",
				},
				func(w io.Writer) error { return results.CopyOutput(w, root, o) },
			})
		}
	}
	return list
}

// pictures are the plots of a training, as charts that Clowder draws and as PNG.
func pictures(c chart.Curves, r *results.Result) []deliverable {
	var list []deliverable
	if loss := chart.Loss(c); loss != nil && r.HasCurves() {
		list = append(list, deliverable{
			Artifact{
				Name: "loss_curve.vl.json", ContentType: typeVega, Show: ShowVega,
				Title:       "Loss curve",
				Description: "Training and validation loss by epoch, as an interactive chart.",
			},
			func(w io.Writer) error { return chart.WriteVega(w, loss) },
		}, deliverable{
			Artifact{
				Name: "plots/loss.png", ContentType: typePNG, Show: ShowThumbnail,
				Title:       "Loss curve (picture)",
				Description: "Training and validation loss by epoch; the dashed line marks the best model.",
			},
			func(w io.Writer) error { return chart.WritePNG(w, loss) },
		})
	}
	confusion := ShowNone
	if !r.HasCurves() { // it has no curves for the card of the model
		confusion = ShowThumbnail
	}
	if m := chart.NewMatrix(r); m != nil {
		list = append(list, deliverable{
			Artifact{
				Name: "confusion.vl.json", ContentType: typeVega, Show: ShowVega,
				Title:       "Confusion matrix",
				Description: "Test rows by true and predicted class, as an interactive chart.",
			},
			func(w io.Writer) error { return chart.WriteConfusionVega(w, m) },
		}, deliverable{
			Artifact{
				Name: "plots/confusion.png", ContentType: typePNG, Show: confusion,
				Title:       "Confusion matrix (picture)",
				Description: "Test rows by true and predicted class; a darker cell is a larger share of the true class.",
			},
			func(w io.Writer) error { return chart.WriteConfusionPNG(w, m) },
		})
	}
	if predicted := chart.Predicted(r.Regression); predicted != nil {
		list = append(list, deliverable{
			Artifact{
				Name: "plots/predicted.png", ContentType: typePNG, Show: ShowImage,
				Title:       "Predicted values (picture)",
				Description: "Predicted and true values of the test rows; on the dashed line they are equal.",
			},
			func(w io.Writer) error { return chart.WritePNG(w, predicted) },
		})
	}
	return append(list, blockPictures(r)...)
}
