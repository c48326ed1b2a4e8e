package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/status"
	"github.com/ncsa/clowder-ray/internal/results"
)

// console shows the statuses of a local run: with a progress bar on a terminal, as plain lines elsewhere.
type console struct {
	w     io.Writer
	began time.Time

	mu  sync.Mutex
	bar *progressbar.ProgressBar // nil if w is not a terminal
}

var _ status.Ordered = (*console)(nil)

const barSteps = 1000

func newConsole(w io.Writer) *console {
	c := &console{w: w, began: time.Now()}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		c.bar = progressbar.NewOptions(barSteps, progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(30),
			progressbar.OptionSetPredictTime(false), progressbar.OptionClearOnFinish(), progressbar.OptionSetElapsedTime(false))
	}
	return c
}

// Publish prints one status. It skips errors, which the command prints to stderr at its end.
func (c *console) Publish(_ context.Context, _ job.Request, s message.Status) error {
	if onBar := s.Progress && c.bar != nil; !onBar && s.Kind != message.StatusError {
		c.say(s.Text)
	}
	return nil
}

// KeepsOrder implements status.Ordered.
func (c *console) KeepsOrder() {}

func (c *console) say(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bar != nil {
		_ = c.bar.Clear()
	}
	_, _ = fmt.Fprintf(c.w, "%7.1f s  %s\n", time.Since(c.began).Seconds(), text)
}

// watch updates the progress bar.
func (c *console) watch(_ string, p results.Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bar != nil && (p.Epochs > 0 || p.Fraction > 0 || p.Script != nil) {
		c.bar.Describe(p.Sentence())
		_ = c.bar.Set(int(p.Fraction * barSteps))
	}
}

// finish removes the progress bar.
func (c *console) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bar != nil {
		_ = c.bar.Clear()
	}
}
