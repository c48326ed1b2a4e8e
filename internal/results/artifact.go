package results

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// Show says how a deliverable is best looked at.
type Show string

// The ways to look at a deliverable.
const (
	ShowNone  Show = "none"
	ShowImage Show = "image"
	// ShowThumbnail is on the card of the model only, where a chart of its own shows the same.
	ShowThumbnail Show = "thumbnail"
	ShowHTML      Show = "html"
	ShowVega      Show = "vega"
)

// OnCard says whether the deliverable gets a card of its own on the page of the dataset.
func (s Show) OnCard() bool { return s == ShowImage || s == ShowHTML || s == ShowVega }

// OnModel says whether it is the small picture of the model's file.
func (s Show) OnModel() bool { return s == ShowImage || s == ShowThumbnail }

// Artifact is one deliverable: a finished file on this machine.
type Artifact struct {
	// Name is where the user finds it in the folder of the run, with slashes: "model.zip", "plots/loss.png".
	Name string
	// Folder is where it lies now, under its name.
	Folder      disk.Folder `json:"-"`
	ContentType string
	Size        int64
	SHA256      string
	Show        Show
	Title       string
	Description string
}

// Open opens the file for a reader that gets the bytes that were built or, before the last of them, an error. The error is
// permanent where another program has changed the file: it must not be handed over, and a look by a person is due.
func (a Artifact) Open() (io.ReadCloser, error) {
	root, err := a.Folder.Open()
	if err != nil {
		return nil, refused(fmt.Errorf("open the folder of the deliverables: %w", err))
	}
	defer func() { _ = root.Close() }()
	f, err := disk.OpenVerified(root, filepath.FromSlash(a.Name), a.Size, a.SHA256)
	if err != nil {
		return nil, a.fault(err)
	}
	return struct {
		io.Reader
		io.Closer
	}{artifactReader{f, a}, f}, nil
}

// artifactReader classifies the errors of reading an artifact.
type artifactReader struct {
	r io.Reader
	a Artifact
}

// Read implements io.Reader.
func (r artifactReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = r.a.fault(err)
	}
	return n, err
}

// fault says what is wrong with the file.
func (a Artifact) fault(err error) error {
	if errors.Is(err, disk.ErrChanged) {
		return job.Permanent(fmt.Errorf("%s is not handed over, because another program changed it after it was checked (%w): "+
			"ask the operator who else writes to the shared volume, then submit again", a.Name, err))
	}
	return refused(fmt.Errorf("open %s: %w", a.Name, err))
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
	// Settings are the checked parameters of the form, of which Result.Settings tells what became of them, and Inputs the
	// staged files.
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

// Folder is the folder of the run inside the dataset, outermost first: "finetune", "2026-11-21-bert-tiny-ab12cd34"; those of
// predictions and checks say so: "2026-11-21-predict-reviews-ab12cd34".
func Folder(m Meta, r *Result) []string {
	model := slug(path.Base(r.Model.Base), 40)
	switch {
	case m.RunName != "":
		model = slug(m.RunName, 40)
	case r.Kind == ResultPrediction:
		model = slug(path.Base(cmp.Or(r.Prediction.Model.Name, r.Prediction.Model.Base, "model")), 40)
	case r.Kind == ResultCheck:
		model = slug(r.Task, 40)
	}
	switch r.Kind {
	case ResultPrediction:
		model = "predict-" + model
	case ResultCheck:
		model = "check-" + model
	case ResultTraining:
	}
	return folder(m.Started, model, m.Run)
}

func folder(at time.Time, name, run string) []string {
	run = slug(strings.TrimPrefix(run, "ft-"), shortRun)
	return []string{"finetune", strings.Join([]string{at.UTC().Format(time.DateOnly), name, run}, "-")}
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
