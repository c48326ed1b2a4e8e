package labels

import (
	"context"
	"embed"
	"hash/maphash"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/studio/web"
	"github.com/ncsa/clowder-ray/internal/text"
)

//go:embed template
var templates embed.FS

// Parts are what the section needs from others.
type Parts struct {
	Rights web.Rights
	// See is the record of a run that the visitor may see, or web.NotFound.
	See func(ctx context.Context, run string) (job.Record, error)
	// Result is what a run left, nil where its folder is gone. A training wrote it, so nothing in it is trusted.
	Result func(run string) *results.Result
	// Inputs are the staged files of a run, which the service listed.
	Inputs func(rec job.Record) ([]job.Input, error)
	// Keys are the keys of metadata from which the model of a prediction was trained; none where it was trained from elsewhere.
	Keys func(rec job.Record) []string
	// LabelIn is the label under a key, as a training reads it, and the entry that it is from; empty for none.
	LabelIn func(notes []clowder.Note, key string) (label string, from clowder.Note)
}

// Section is the part of the studio for labels. It is safe for concurrent use.
type Section struct {
	Parts
	site  *web.Site
	page  *web.Page
	quota *web.Quota
	now   func() time.Time
	// One file is changed by one request at a time, so that two clicks write one entry.
	seed  maphash.Seed
	locks [64]sync.Mutex
}

// labelsPerMinute is how many labels one person may write.
const labelsPerMinute = 120

// New returns the section.
func New(site *web.Site, p Parts) *Section {
	return &Section{
		Parts: p, site: site, page: site.Parse(templates, "template/label.tmpl.html"), quota: web.NewQuota(labelsPerMinute, "labels"), now: time.Now,
		seed: maphash.MakeSeed(),
	}
}

// lock waits until no other request changes the file, and returns what frees it.
func (s *Section) lock(file string) func() {
	l := &s.locks[maphash.String(s.seed, file)%uint64(len(s.locks))]
	l.Lock()
	return l.Unlock
}

// maxLabel is the length in bytes of the longest label that a training reads, and maxKey that of the longest key.
const maxLabel, maxKey = 200, 200

// checked returns a label or a key as it is written, or why it cannot be.
func checked(what, value string, most int) (string, error) {
	value = text.OneLine(strings.TrimSpace(value))
	switch {
	case value == "":
		return "", refused("There is no "+what+".", "Choose one of the classes, or write another one.")
	case len(value) > most:
		return "", refused("The "+what+" is too long.", "Use at most 200 bytes.")
	}
	return value, nil
}

func refused(detail, do string) error {
	return &web.Problem{Type: "label", Title: "This cannot be the label", Status: http.StatusUnprocessableEntity, Detail: detail, Do: do}
}
