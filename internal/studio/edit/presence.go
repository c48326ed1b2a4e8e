package edit

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// maxSeats limits the streams of all files, and maxSeatsEach those of one visitor.
const (
	maxSeats     = 2000
	maxSeatsEach = 8
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
	mu    sync.Mutex
	files map[string]*openFile
	seats int
	done  chan struct{}
	ended bool
}

type openFile struct {
	seats  []*seat
	newest Saved // the last version that the studio saved since the first of them opened it
}

// seat is one open window.
type seat struct {
	file   string
	person Person
	// changed receives when somebody came, went or saved.
	changed chan struct{}
}

func newPresence() *presence {
	return &presence{files: make(map[string]*openFile), done: make(chan struct{})}
}

// enter adds a window of a visitor. It returns nil where there are too many, or the service ends.
func (p *presence) enter(file string, v *web.Visitor, now time.Time) *seat {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := 0
	for _, f := range p.files {
		for _, s := range f.seats {
			if s.person.Email == v.Email {
				own++
			}
		}
	}
	if p.ended || p.seats >= maxSeats || own >= maxSeatsEach {
		return nil
	}
	f := p.files[file]
	if f == nil {
		f = &openFile{}
		p.files[file] = f
	}
	s := &seat{file: file, person: Person{Name: cmp.Or(v.Name, v.Email), Email: v.Email, Since: now.UTC()}, changed: make(chan struct{}, 1)}
	f.seats = append(f.seats, s)
	p.seats++
	f.tell()
	return s
}

func (p *presence) leave(s *seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.files[s.file]
	f.seats = slices.DeleteFunc(f.seats, func(other *seat) bool { return other == s })
	p.seats--
	if len(f.seats) == 0 {
		delete(p.files, s.file)
		return
	}
	f.tell()
}

// tell wakes all windows of the file. A window that was woken and has not looked yet needs no second call.
func (f *openFile) tell() {
	for _, s := range f.seats {
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
		f.tell()
	}
}

// around returns who else has the file open, by the time at which they opened it, and the newest version that the studio saved.
func (p *presence) around(s *seat) ([]Person, Saved) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.files[s.file]
	if f == nil {
		return nil, Saved{}
	}
	people, seen := []Person{}, map[string]bool{}
	for _, other := range f.seats {
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
