package rayjob

import (
	"context"
	"errors"
	"io"
)

// Backend runs one attempt of a job on Ray. Every error carries what it means (job.Classify); an error never says
// anything about the training, only an Observation does. All methods may be called again after a crash at any point.
type Backend interface {
	// Submit starts the attempt, or adopts it where it was started before. After a nil return Ray knows the attempt by
	// name; after any error the same call may be made again.
	Submit(ctx context.Context, a Attempt) (Handle, error)
	// Observe says how the attempt stands. It is cheap: any number of attempts may be observed as often as wanted.
	Observe(ctx context.Context, h Handle) (Observation, error)
	// Stop ends the attempt and returns nil once it has ended. While the training uses its time to stop the error is of
	// job.KindLater. Stopping what has ended, or is gone, is no error.
	Stop(ctx context.Context, h Handle) error
	// Logs writes what the attempt has printed so far to w. ErrNoLogs says that there is nothing to be had any more.
	Logs(ctx context.Context, h Handle, w io.Writer) error
	// Release frees what Ray keeps for the attempt, and stops it if it still runs. It is called when the attempt's end is
	// decided; the attempt is Lost afterwards. Releasing twice is no error.
	Release(ctx context.Context, h Handle) error
}

// Lister is a backend that can say which attempts of its own service are still on Ray, whatever their state, so that those
// which no record knows any more can be found and released. Attempts of other services are never among them.
type Lister interface {
	// List returns a handle for each attempt. A failed look is an error and never an empty list.
	List(ctx context.Context) ([]Handle, error)
}

// Handle is how a backend finds an attempt again. It is stored with the job as JSON and holds no secret.
type Handle struct {
	// Backend names the implementation that made the handle.
	Backend string `json:"backend"`
	// ID is the attempt's name on Ray.
	ID string `json:"id"`
	// Address is where the cluster was reached when the attempt was submitted, for people who read the record.
	Address string `json:"address,omitempty"`
	// Session names the incarnation of the cluster; a restarted cluster has another one and has forgotten its jobs.
	Session string `json:"session,omitempty"`
	// Cluster names a standing RayCluster on which the attempt runs; empty where it has one of its own or needs no name.
	Cluster string `json:"cluster,omitempty"`
}

// StandingWarning is what an operator should know of a Ray cluster that stands: one volume for all is in its nature.
const StandingWarning = "a standing cluster: every training can read and change the files of all others on the shared volume; " +
	"use RayJobs with clusters of their own where users do not trust each other"

// ErrNoLogs is returned by Logs for an attempt whose output is gone with its cluster or its entry.
var ErrNoLogs = errors.New("Ray no longer keeps the output of this training") //nolint:staticcheck // begins with a name

// WaitError says what a submission waits for although nothing is wrong, in words for the user. It travels inside an error
// of job.KindLater.
type WaitError struct{ Text string }

// Error returns the text.
func (e *WaitError) Error() string { return e.Text }

// SettingError is an error that lasts until the operator of the service mends a setting. It is not the fault of any job,
// so jobs wait meanwhile: it travels inside an error of job.KindLater.
type SettingError struct {
	// Setting is the name of the setting to mend.
	Setting string
	// Text says what is wrong and what to do, on one line.
	Text string
}

// Error returns the text, which names the setting.
func (e *SettingError) Error() string { return e.Text }
