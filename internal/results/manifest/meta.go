package manifest

import (
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
)

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
	// NotRead are files of the dataset that were not staged although they are data.
	NotRead []job.NotRead
	// Failure is why a script failed, as its user reads it; empty for a run that succeeded.
	Failure string
	// Page is the address of the run in the studio, empty for none.
	Page string
}

// ModelVersion is a model that this run registered as a version of a name. Champion is the best version after this run, as
// "name/2"; BestSoFar says that it is this one.
type ModelVersion struct {
	Name      string
	Version   int
	Champion  string
	BestSoFar bool
}
