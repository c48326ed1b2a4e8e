package edit

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// maxWindows limits the streams of all files, and maxWindowsEach those of one visitor.
const (
	maxWindows     = 2000
	maxWindowsEach = 8
)

// Person has a file open.
type Person struct {
	Name  string    `json:"name"`
	Email string    `json:"email"`
	Since time.Time `json:"since"`
	// You says that it is the visitor in another window.
	You bool `json:"you,omitempty" doc:"You, in another window"`
}

// presence knows who has which file open.
type presence struct {
	mu      sync.Mutex
	files   map[string]*openFile
	windows int
	done    chan struct{}
	ended   bool
}

type openFile struct {
	windows []*window
	newest  Saved // the last version that the studio saved since the first of them opened it
}

// window is one open window.
type window struct {
	file   string
	person Person
	// changed receives when somebody came, went or saved.
	changed chan struct{}
}

func newPresence() *presence {
	return &presence{files: make(map[string]*openFile), done: make(chan struct{})}
}

// enter adds a window of a visitor. It returns nil where there are too many, or the service ends.
func (p *presence) enter(file string, v *web.Visitor, now time.Time) *window {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := 0
	for _, f := range p.files {
		for _, s := range f.windows {
			if s.person.Email == v.Email {
				own++
			}
		}
	}
	if p.ended || p.windows >= maxWindows || own >= maxWindowsEach {
		return nil
	}
	f := p.files[file]
	if f == nil {
		f = &openFile{}
		p.files[file] = f
	}
	s := &window{file: file, person: Person{Name: cmp.Or(v.Name, v.Email), Email: v.Email, Since: now.UTC()}, changed: make(chan struct{}, 1)}
	f.windows = append(f.windows, s)
	p.windows++
	f.wake()
	return s
}

func (p *presence) leave(s *window) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.files[s.file]
	f.windows = slices.DeleteFunc(f.windows, func(other *window) bool { return other == s })
	p.windows--
	if len(f.windows) == 0 {
		delete(p.files, s.file)
		return
	}
	f.wake()
}

// wake wakes all windows of the file. A window that was woken and has not looked yet needs no second call.
func (f *openFile) wake() {
	for _, s := range f.windows {
		select {
		case s.changed <- struct{}{}:
		default:
		}
	}
}

// saved tells all windows of a file of its newest version.
func (p *presence) saved(file string, version Saved) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f := p.files[file]; f != nil {
		f.newest = version
		f.wake()
	}
}

// around returns who else has the file open, by the time at which they opened it, and the newest version that the studio saved.
func (p *presence) around(s *window) ([]Person, Saved) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.files[s.file]
	if f == nil {
		return nil, Saved{}
	}
	people, seen := []Person{}, map[string]bool{}
	for _, other := range f.windows {
		if other == s || seen[other.person.Email] {
			continue
		}
		seen[other.person.Email] = true
		person := other.person
		person.You = person.Email == s.person.Email
		people = append(people, person)
	}
	return people, f.newest
}

// close ends all streams.
func (p *presence) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.ended = true
		close(p.done)
	}
}
