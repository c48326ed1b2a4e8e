package results

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Show says how a deliverable is best looked at.
type Show string

// The ways to look at a deliverable.
const (
	ShowNone  Show = "none"
	ShowImage Show = "image"
	ShowHTML  Show = "html"
	ShowVega  Show = "vega"
)

// Artifact is one deliverable: a finished file on this machine.
type Artifact struct {
	// Name is where the user finds it in the folder of the run, with slashes: "model.zip", "plots/loss.png".
	Name string
	// Path is where it lies now.
	Path        string
	ContentType string
	Size        int64
	SHA256      string
	Show        Show
	Title       string
	Description string
}

// Meta is what the service knows of a run and the trainer does not. The deliverables are a function of it and of the run
// folder, so it must not change between two builds of one run: no field may come from the clock at the time of building.
type Meta struct {
	Run   string
	JobID string
	// DatasetID and DatasetName are the dataset as Clowder knows it; the id is empty for a local folder.
	DatasetID   string
	DatasetName string
	// Extractor and Version are the name and the version of this program as it is registered.
	Extractor string
	Version   string
	// Model is what the registry calls the model, zero where nothing is registered.
	Model ModelVersion
	// RunName is what the user called the run, empty for nothing.
	RunName string
	// Started is when the job was received; it dates the run.
	Started time.Time
	// Settings are the checked parameters and Inputs the staged files.
	Settings map[string]any
	Inputs   []job.Input
}

// ModelVersion is a model that this run registered as a version of a name. Champion is the best version after this run, as
// "name/2"; BestSoFar says that it is this one.
type ModelVersion struct {
	Name      string
	Version   int
	Champion  string
	BestSoFar bool
}

// shortRun is how many characters of a run's name tell runs of one dataset apart.
const shortRun = 8

// Folder is the folder of the run inside the dataset, outermost first: "finetune", "2026-11-21-bert-tiny-ab12cd34".
func Folder(m Meta, r *Result) []string {
	run := slug(strings.TrimPrefix(m.Run, "ft-"), shortRun)
	model := slug(path.Base(r.Model.Base), 40)
	if m.RunName != "" {
		model = slug(m.RunName, 40)
	}
	return []string{"finetune", strings.Join([]string{m.Started.UTC().Format(time.DateOnly), model, run}, "-")}
}

// slug makes a text fit for a folder name on every system: lower-case letters and digits of ASCII with single dashes.
func slug(s string, limit int) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(s) {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			dash = b.Len() > 0
			continue
		}
		if dash {
			b.WriteByte('-')
			dash = false
		}
		if b.Len() >= limit {
			break
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "run"
	}
	return strings.TrimRight(b.String(), "-")
}

// Metadata is what is written onto the dataset about the run: few keys whose types never change, because Clowder indexes
// them all in one mapping, and no number that JSON cannot hold.
func Metadata(m Meta, r *Result) map[string]any {
	content := map[string]any{
		"run":              m.Run,
		"job_id":           m.JobID,
		"task":             r.Task,
		"model":            r.Model.Base,
		"from_scratch":     r.Model.FromScratch,
		"parameters":       r.Model.Parameters,
		"metric":           r.Metric,
		"best_epoch":       r.BestEpoch,
		"epochs":           r.Training.Epochs,
		"rows_train":       r.Data.Rows.Train,
		"rows_validation":  r.Data.Rows.Validation,
		"rows_test":        r.Data.Rows.Test,
		"classes":          len(r.Model.Labels),
		"seed":             r.Training.Seed,
		"seconds":          r.Training.Seconds,
		"workers":          r.Training.Workers,
		"device":           r.Training.Device,
		"version":          m.Version,
		"folder":           strings.Join(Folder(m, r), "/"),
		"data_sha256":      dataDigest(m.Inputs),
		"verdict":          NewVerdict(r).Sentence,
		"started":          m.Started.UTC().Format(time.RFC3339),
		"validation_value": r.Metrics.Validation[r.Metric].Value,
	}
	if s, ok := r.Metrics.Test[r.Metric]; ok {
		low, high := s.bounds()
		content["test_value"], content["test_low"], content["test_high"] = s.Value, low, high
	}
	return content
}

// MetadataContext names the vocabulary of Metadata, as JSON-LD wants it.
func MetadataContext(extractor string) map[string]any {
	return map[string]any{"@vocab": fmt.Sprintf("urn:clowder:extractor:%s#", slug(extractor, 80))}
}
