// Package sidecar starts and finds the processes of the trainer that serve HTTP beside the service: the one that answers for models, and
// TensorBoard. Where the service has a Python, Local starts one when it is needed; it ends by itself after a time without requests.
// Elsewhere Remote is a server of its own.
package sidecar

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Endpoint is where a process is, now.
type Endpoint struct {
	// URL has no slash at its end.
	URL string
	// Token is sent as a bearer token; empty asks for none.
	Token job.Secret
	// Woken says that the process was started for this request, or while it waited.
	Woken bool
}

// Process is Local, Remote or None.
type Process interface {
	// At returns the place of a running process. gone is the URL where the process no longer answers, or empty.
	At(ctx context.Context, gone string) (Endpoint, error)
	// Close ends the process if it is ours.
	Close() error
}

// ErrNotSetUp says that no process can be reached or started here.
var ErrNotSetUp = errors.New("this is not set up on this service")

// MissingError says which package the process lacks.
type MissingError struct{ Package string }

func (e *MissingError) Error() string {
	return "the Python environment of this service lacks the package " + e.Package
}

// IsGone reports whether an error of an HTTP client says that the process did not answer at all.
func IsGone(err error) bool {
	var network net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network) && !network.Timeout()
}

// WithoutURL removes the address from an error of an HTTP client: it says nothing to a visitor.
func WithoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
