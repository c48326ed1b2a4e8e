package sidecar

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Remote is a process that somebody else runs.
type Remote struct {
	url       string
	setting   string
	tokenFile string
}

// NewRemote returns the process at an address. tokenFile holds its bearer token; it is read at each question, so that it can be replaced.
// setting names it in errors.
// Empty means that the process asks for none.
func NewRemote(url, setting, tokenFile string) *Remote {
	return &Remote{url: strings.TrimRight(url, "/"), setting: setting, tokenFile: tokenFile}
}

// At returns the address, with the token as it is now.
func (r *Remote) At(context.Context, string) (Endpoint, error) {
	if r.tokenFile == "" {
		return Endpoint{URL: r.url}, nil
	}
	token, err := os.ReadFile(r.tokenFile)
	if err != nil {
		return Endpoint{}, fmt.Errorf("%s: %w", r.setting, err)
	}
	return Endpoint{URL: r.url, Token: job.Secret(strings.TrimSpace(string(token)))}, nil
}

// Close does nothing: the process is not ours.
func (r *Remote) Close() error { return nil }

// None is no process at all.
type None struct{}

// At returns ErrNotSetUp.
func (None) At(context.Context, string) (Endpoint, error) { return Endpoint{}, ErrNotSetUp }

// Close does nothing.
func (None) Close() error { return nil }
