package rayjob

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Backend runs attempts on Ray. Every error has a kind (job.Classify). An error never says anything about the training; only
// an Observation does. All methods may be called again after a crash at any point.
type Backend interface {
	// Submit starts the attempt, or adopts it if it was started before. After a nil return Ray knows the attempt by name.
	// After any error the same call may be repeated.
	Submit(ctx context.Context, a Attempt) (Handle, error)
	// Observe returns the state of the attempt as it was at most maxAge ago, unless Ray would be asked too often. It is cheap: any number of
	// attempts may be observed at any rate.
	Observe(ctx context.Context, h Handle, maxAge time.Duration) (Observation, error)
	// Stop ends the attempt and returns nil once it has ended. While the training uses its grace period, the error is of
	// job.KindLater. It is no error to stop an attempt that has ended or does not exist.
	Stop(ctx context.Context, h Handle) error
	// Logs writes the output of the attempt so far to w. It returns ErrNoLogs if the output no longer exists.
	Logs(ctx context.Context, h Handle, w io.Writer) error
	// Release frees what Ray keeps for the attempt, and stops the attempt if it still runs. It is called once the end of the
	// attempt is recorded; the attempt is Lost afterwards. Releasing twice is no error.
	Release(ctx context.Context, h Handle) error
}

// Lister is a backend that can list the attempts of its own service that are still on Ray, in any state, so that attempts
// without a record can be released. Attempts of other services are never in the list.
type Lister interface {
	// List returns a handle for each attempt. A failed request is an error and never an empty list.
	List(ctx context.Context) ([]Handle, error)
}

// Isolator is a backend that can isolate the code of users by pods of their own.
type Isolator interface {
	// Isolates reports whether a script with these resources, of which Workers is the number of machines, runs in pods of its own. If
	// not, the trainer has to isolate it on the machine where it runs. An error says why such a script cannot run.
	Isolates(r Resources) (bool, error)
}

// Handle is how a backend finds an attempt again. It is stored with the job as JSON and holds no secret.
type Handle = job.Handle

// StandingWarning tells an administrator the risk of a standing Ray cluster: all trainings share one volume.
const StandingWarning = "on a standing Ray cluster, every training can read and change the files of all other trainings on the shared " +
	"volume: use RayJobs with their own clusters if users do not trust each other"

// ErrNoLogs is returned by Logs if the output of the attempt was deleted with its cluster or its entry.
var ErrNoLogs = errors.New("Ray no longer keeps the output of this training") //nolint:staticcheck // begins with a name

// WaitError says in words for the user what a submission waits for when nothing is wrong. It is wrapped in an error of
// job.KindLater.
type WaitError struct{ Text string }

// Error returns the text.
func (e *WaitError) Error() string { return e.Text }

// SettingError is an error that lasts until the administrator corrects a setting. No job is at fault, so the jobs wait: it is
// wrapped in an error of job.KindLater.
type SettingError struct {
	// Setting is the name of the setting to correct.
	Setting string
	// Text says what is wrong and what to do, on one line.
	Text string
}

// Error returns the text, which names the setting.
func (e *SettingError) Error() string { return e.Text }
