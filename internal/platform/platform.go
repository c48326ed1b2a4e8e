package platform

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder/ability"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
)

// Platform is where datasets lie and results go: a Clowder, or folders of this machine. All calls may be repeated.
type Platform interface {
	// Address is the address of the Clowder that the job belongs to, always in the same spelling, or empty for folders of this
	// machine. The error about one that is not served is permanent.
	Address(rec job.Record) (string, error)
	// Abilities is what the Clowder that sent the request can do. Nothing is asked for it.
	Abilities(req job.Request) ability.Set
	// Origin returns the address of the Clowder that sent the request exactly as the operator has set it, empty where messages alone name it,
	// and the host that the request names, always in the same spelling. Neither is checked. Runs have their names from them.
	Origin(req job.Request) (configured, named string)
	// Stage puts the files of the job's dataset into dir, which it makes, and returns them. The values of the form are checked by now. The second
	// list has data of the dataset that are left out, each with the reason.
	Stage(ctx context.Context, rec job.Record, dir disk.Folder, say Say) ([]job.Input, []job.NotRead, error)
	// StageMany is called after Stage where the settings name more datasets, with own, the files that Stage has staged. It puts their files into room
	// and returns all files, each with its dataset. An error of the kind later says that other jobs take their turn: the next call goes on.
	StageMany(ctx context.Context, rec job.Record, own []job.Input, room Room, say Say) ([]job.Input, []job.NotRead, error)
	// Sender tells who sent the message of a job about a single file. Where that cannot be told apart, it was a person.
	Sender(ctx context.Context, rec job.Record) (job.Sender, error)
	// Label gives each staged file of a training the label that its metadata holds, if the settings of rec name such metadata.
	Label(ctx context.Context, rec job.Record, inputs []job.Input, say func(string)) error
	// News returns which of the announced files an automatic run is to read, with their ids: those that are still in the dataset, if the dataset
	// asks for such runs. Settings and results are never among them. If there are none, reason says why, for the user. dir is a folder for
	// files that News reads, which it makes.
	News(ctx context.Context, rec job.Record, dir disk.Folder) (files []job.Announced, reason string, err error)
	// User is the e-mail address of the user of the job, or "you" for a command on this machine.
	User(ctx context.Context, rec job.Record) (string, error)
	// MayRead reports whether the user of the job may read another dataset, and so use the models that were made from it.
	MayRead(ctx context.Context, rec job.Record, dataset string) (bool, error)
	// CanManage returns the name of the user of the job if they may cancel, stop or retry another job of the same dataset, or promote its
	// model: one of their own, or any if they can edit the dataset. Otherwise the error is permanent.
	CanManage(ctx context.Context, rec, other job.Record) (by string, err error)
	// Plan returns the notes of a delivery that has not begun, for a caller that saves them before it calls Deliver. They spare Deliver a write.
	Plan(rec job.Record, d Delivery) (json.RawMessage, error)
	// Deliver delivers what the run made, once, however often it is called, and returns where the user finds the results.
	Deliver(ctx context.Context, rec job.Record, d Delivery, l LedgerFile, say func(string)) (string, error)
	// Note adds an entry to the metadata of the job's dataset, once, however often it is called.
	Note(ctx context.Context, rec job.Record, content map[string]any, l LedgerFile) error
	// Known returns what the user's platform shows of the job so far.
	Known(ctx context.Context, rec job.Record) (Known, error)
}

// Say takes sentences for the user.
type Say struct {
	// Passing takes what is done now; a newer sentence replaces it if it was not sent yet. Note takes what the user should read in each case.
	Passing, Note func(string)
}

// Room is where the files of a job go, and where a platform keeps what it has listed, which only the service can write to.
type Room struct {
	Inputs, Notes disk.Folder
	// Wanted reports whether a job of another user has, or waits for, the place in which this one downloads.
	Wanted func() bool
	// Kept is what the last call left whose turn ended, in memory.
	Kept *Kept
}

// Kept is what a platform knows of a staging whose turn ended, so that the next turn goes on there and does nothing again. The one who has it
// closes it, unless it is given to the next turn.
type Kept struct {
	// Part belongs to the platform, nil for nothing, and Files is how many files it knows.
	Part  io.Closer
	Files int
}

// LedgerFile is where a platform keeps its notes on what is delivered.
type LedgerFile struct {
	// Saved is what an earlier call saved, empty at first; after a nil return of Save the new notes are on disk.
	Saved json.RawMessage
	// New says that Saved is what Plan returned to this process, and that no delivery has begun since.
	New  bool
	Save func(json.RawMessage) error
	// Last takes the notes at the end of the delivery. They come onto the disk together with that end.
	Last func(json.RawMessage)
}

// Delivery is what a finished job hands over.
type Delivery struct {
	// Folders are those inside the dataset that take the artifacts, the outermost first.
	Folders   []string
	Artifacts []delivery.Artifact
	// Content is what the metadata of the dataset is to say. It names the run of the job, by which it is found again.
	Content map[string]any
	// Prediction, where there is one, holds the answers for single files.
	Prediction *results.Prediction
}

// Submitted is a job as its user's platform lists it.
type Submitted struct {
	// ID is Clowder's id of the job, and At when it was submitted, in whole seconds.
	ID string
	At time.Time
	// Waiting says that the platform has received no status of it.
	Waiting bool
	// Resource is the id of what was submitted, and OfDataset says that this is a dataset and not a file.
	Resource  string
	OfDataset bool
	// Parameters is what the form posted, as undecoded JSON.
	Parameters json.RawMessage
}

// Known is what a platform shows of a job.
type Known struct {
	// Started and Ended say whether a first and a terminal status have arrived.
	Started, Ended bool
	// Complete says that no status can still be on its way.
	Complete bool
}
