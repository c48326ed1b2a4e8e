package edit

import (
	"context"
	"embed"
	"time"

	"github.com/ncsa/clowder-ray/internal/studio/edit/check"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

//go:embed *.tmpl.html
var templates embed.FS

// Trainings starts trainings and knows earlier ones.
type Trainings interface {
	// Train submits a dataset through Clowder with the credential of the visitor; settings is the id of the settings file, which
	// has been checked. It returns the name of the run. Two calls of one visitor with the same key are one.
	Train(ctx context.Context, dataset, settings, key string) (run string, err error)
	// LastSettings returns the options that the newest training of the dataset was given, by their names with or without their groups; none
	// where there was none.
	LastSettings(ctx context.Context, dataset string) (map[string]any, error)
}

// Parts are what the section needs from others.
type Parts struct {
	Rights    web.Rights
	Trainings Trainings
	// Python checks Python code; nil where the service has no Python.
	Python check.Python
}

// Section is the part of the studio for the text files of datasets. It is safe for concurrent use.
type Section struct {
	site      *web.Site
	rights    web.Rights
	trainings Trainings
	checker   *check.Checker
	locks     locks
	presence  *presence
	pages     pages
	// look is how often a stream looks whether somebody saved the file in Clowder itself, and beat how often it sends something.
	look, beat time.Duration
}

type pages struct{ files, editor, history *web.Page }

// New returns the section.
func New(site *web.Site, p Parts) *Section {
	page := func(name string) *web.Page { return site.Parse(templates, name+".tmpl.html", "parts.tmpl.html") }
	return &Section{
		site: site, rights: p.Rights, trainings: p.Trainings, checker: &check.Checker{Python: p.Python},
		presence: newPresence(), pages: pages{files: page("files"), editor: page("editor"), history: page("history")},
		look: 15 * time.Second, beat: 15 * time.Second,
	}
}

// Close ends all streams. They begin no more.
func (s *Section) Close() { s.presence.close() }
