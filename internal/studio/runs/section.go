package runs

import (
	"context"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// Records are the records of jobs.
type Records interface {
	Get(ctx context.Context, run string) (job.Record, error)
	// List returns the records that match, oldest first.
	List(ctx context.Context, q job.Query) ([]job.Record, error)
}

// Clowder is what the section asks of Clowder, with the credential of the visitor.
type Clowder interface {
	// Dataset returns the name of a dataset and the e-mail address of its creator.
	Dataset(ctx context.Context, v *web.Visitor, id string) (name, creator string, err error)
	// Files lists the files of a dataset.
	Files(ctx context.Context, v *web.Visitor, dataset string) ([]DatasetFile, error)
	// Submit submits a dataset to an extractor and returns the id of the job.
	Submit(ctx context.Context, v *web.Visitor, dataset, extractor string, parameters map[string]any) (jobID string, err error)
}

// Commands applies the commands of people to runs. The section has checked that they may. Errors about a run that does not take the command are
// permanent.
type Commands interface {
	Cancel(ctx context.Context, run, by string) error
	Stop(ctx context.Context, run, by string) error
}

// Settings checks the settings file that a training is to use.
type Settings interface {
	// Check returns a *web.Problem where the file, given by its id or its name, has a mistake that ends a training.
	Check(ctx context.Context, dataset, file string) error
}

// Volume is the shared volume as this section reads it. Trainings write to it, so nothing in it is trusted.
type Volume interface {
	// Run is the folder of a run.
	Run(run string) disk.Folder
	// ReadInputs is the list of the staged files of a run, which the service wrote.
	ReadInputs(rec job.Record) ([]job.Input, error)
}

// The kinds of runs, as spec.json calls them.
const (
	KindTrain   = "train"
	KindPredict = "predict"
	KindScript  = "script"
	// KindRuns are requests about other runs, which no page shows.
	KindRuns = "runs"
)

// Form is an extractor to which a visitor can submit a dataset.
type Form struct {
	// Name is how Clowder knows it, Kind what its jobs do, and Noun what such a job is to its user: "training".
	Name, Kind, Noun string
	// Keeps is what a job keeps when it is asked to stop early, empty for nothing.
	Keeps string
	Info  *form.Info
}

// Forms are the extractors of the service, the one that trains first.
type Forms []Form

// Of returns the extractor that a request was sent to. Records that name none are the first one's.
func (all Forms) Of(req job.Request) Form {
	for _, f := range all {
		if f.Info.Name == req.Extractor {
			return f
		}
	}
	return all[0]
}

// Named returns the extractor that Clowder knows by this name.
func (all Forms) Named(name string) (Form, bool) {
	for _, f := range all {
		if f.Name == name && f.Kind != KindRuns {
			return f, true
		}
	}
	return Form{}, false
}

// Parts are what the section needs from others.
type Parts struct {
	Records  Records
	Volume   Volume
	Rights   web.Rights
	Clowder  Clowder
	Commands Commands
	Forms    Forms
	// Settings is nil where files are not checked.
	Settings Settings
	// Ours reports whether a job belongs to the Clowder whose page the studio is. Two Clowders may use the same ids.
	Ours func(rec job.Record) bool
	// Version is the version of the service, for reports.
	Version string
	// RunOf is the name that the run of a job of Clowder will have.
	RunOf func(extractor, jobID string) string
	// Champion is the number of the champion of a model and the run that made it; 0 where none is known.
	Champion func(dataset, name string) (version int, run string)
	// TensorBoard says that the studio has pages of TensorBoard.
	TensorBoard bool
	// LastStatus is the newest sentence that the user of an active run was told in Clowder, empty for none.
	LastStatus func(run string) string
}

// Section is the part of the studio about runs. It is safe for concurrent use.
type Section struct {
	site       *web.Site
	pages      pages
	records    Records
	volume     Volume
	rights     web.Rights
	clowder    Clowder
	commands   Commands
	forms      Forms
	checks     Settings
	ours       func(rec job.Record) bool
	version    string
	runOf      func(extractor, jobID string) string
	lastStatus func(run string) string
	folders    *folderCache
	names      names
	champions  *championCache
	sent       *submissions
	boards     bool
	now        func() time.Time
}

// New returns the section.
func New(site *web.Site, p Parts) *Section {
	said := p.LastStatus
	if said == nil {
		said = func(string) string { return "" }
	}
	return &Section{
		site: site, pages: newPages(site), records: p.Records, volume: p.Volume, rights: p.Rights, clowder: p.Clowder, commands: p.Commands, forms: p.Forms, checks: p.Settings,
		ours: p.Ours, version: p.Version, runOf: p.RunOf, lastStatus: said, boards: p.TensorBoard, folders: newFolderCache(p.Volume.Run), names: newNames(), champions: &championCache{ask: p.Champion, known: map[modelKey]cachedChampion{}}, sent: newSubmissions(), now: time.Now,
	}
}
