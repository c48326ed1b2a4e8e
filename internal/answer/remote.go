package answer

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Remote is an answer process that somebody else runs: PREDICTOR_URL.
type Remote struct {
	url       string
	tokenFile string
}

// NewRemote returns the process at an address. tokenFile holds its bearer token; it is read at each question, so that it can be replaced.
// Empty means that the process asks for none.
func NewRemote(url, tokenFile string) *Remote {
	return &Remote{url: strings.TrimRight(url, "/"), tokenFile: tokenFile}
}

func (r *Remote) at(context.Context, string) (place, error) {
	if r.tokenFile == "" {
		return place{url: r.url}, nil
	}
	token, err := os.ReadFile(r.tokenFile)
	if err != nil {
		return place{}, fmt.Errorf("PREDICTOR_TOKEN_FILE: %w", err)
	}
	return place{url: r.url, token: job.Secret(strings.TrimSpace(string(token)))}, nil
}

// Close does nothing: the process is not ours.
func (r *Remote) Close() error { return nil }

// None is no answer process at all.
type None struct{}

func (None) at(context.Context, string) (place, error) { return place{}, ErrNotSetUp }

// Close does nothing.
func (None) Close() error { return nil }
