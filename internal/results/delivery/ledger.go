package delivery

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
)

// State says how far one effect of a delivery is.
type State string

// The states of an effect. One that the ledger does not name is absent.
const (
	StateAbsent  State = "absent"
	StatePending State = "pending" // it was about to be done: it may or may not have happened
	StateDone    State = "done"
)

// The kinds of effects of a delivery.
const (
	KindFolder        = "folder"
	KindFile          = "file"
	KindMetadata      = "metadata"
	KindVisualization = "visualization"
	KindThumbnail     = "thumbnail"
)

// Entry is what the ledger knows of one effect.
type Entry struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// SHA256 and Size are of the content that was sent, empty for what has none.
	SHA256 string `json:"sha256,omitempty"`
	Size   int64  `json:"size,omitempty"`
	State  State  `json:"state"`
	// ID is what the other side calls it, once it is done.
	ID string `json:"id,omitempty"`

	made bool // by this ledger, as the answer said
}

// Step is one effect on another system that has no idempotency key: it must happen exactly once, also when this program
// dies at any instant of it.
type Step struct {
	Kind   string
	Name   string
	SHA256 string
	Size   int64
	// Look finds the effect where it has happened already, complete and usable. prior is what the ledger knows: with another
	// SHA256 than the step's, what is found under the name is of other content and must not be adopted. Look may clear
	// away what is broken, and answers job.Later while what it found is still growing.
	Look func(ctx context.Context, prior Entry) (id string, found bool, err error)
	// Do makes the effect. It answers job.Unknown where it may have happened nevertheless.
	Do func(ctx context.Context) (id string, err error)
}

// atOnce is how many effects of a delivery are under way at the same time: all files of an ordinary training. Most of their time is spent
// waiting for the other side, and Clowder v2 waits for a second in each upload.
const atOnce = 12

// Ledger remembers which effects of one delivery have happened. It is safe for concurrent use, as long as no two calls make the same
// effect.
type Ledger struct {
	save   func(json.RawMessage) error
	fresh  bool
	atOnce int

	mu      sync.Mutex
	entries []Entry
}

// OpenLedger returns the ledger that doc holds, an empty one for an empty doc. After a nil return of save, its argument must
// be on disk.
func OpenLedger(doc json.RawMessage, save func(json.RawMessage) error) (*Ledger, error) {
	l := &Ledger{save: save, atOnce: atOnce}
	if len(doc) > 0 {
		if err := json.Unmarshal(doc, &l.entries); err != nil {
			return nil, fmt.Errorf("decode the ledger of the delivery: %w", err)
		}
	}
	return l, nil
}

// Entries returns a copy of all entries, in the order in which they were begun.
func (l *Ledger) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}

// Plan writes that these effects may happen from now on, all in one write that Do then need not make for each. Only what they
// are called and what they hold counts; what the ledger knows of one already stays.
func (l *Ledger) Plan(effects []Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	planned := slices.Clone(l.entries)
	for _, e := range effects {
		if index(planned, e.Kind, e.Name) < 0 {
			e.State, e.ID = StatePending, ""
			planned = append(planned, e)
		}
	}
	if len(planned) == len(l.entries) {
		return nil
	}
	return l.write(planned)
}

// Made reports whether this ledger has made the effect itself and has the answer: it was not there before.
func (l *Ledger) Made(kind, name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := index(l.entries, kind, name)
	return i >= 0 && l.entries[i].made
}

// Fresh says that no effect of the delivery can have happened before this ledger was opened, even one that the ledger does not
// know. Do then does not look before it acts.
func (l *Ledger) Fresh() { l.fresh = true }

// Do makes one effect happen, unless it has, and returns its id. That it is done is on disk with the next write.
//
// The order is: look, write pending, unless that is planned, do, note done. A death before the write leaves nothing; a later one
// leaves the entry pending, and the look of the next Do adopts what has happened. An effect whose outcome is unknown is looked
// for at once, and never repeated within the same call: a request that was lost on the way out may still arrive.
func (l *Ledger) Do(ctx context.Context, s Step) (string, error) {
	prior := l.find(s)
	if prior.State == StateDone && prior.SHA256 == s.SHA256 {
		return prior.ID, nil
	}
	if !l.fresh {
		id, found, err := s.Look(ctx, prior)
		if err != nil {
			return "", fmt.Errorf("look for the %s %s: %w", s.Kind, s.Name, err)
		}
		if found {
			l.note(s, id, false)
			return id, nil
		}
	}
	if prior.State != StatePending || prior.SHA256 != s.SHA256 {
		if err := l.pend(s); err != nil {
			return "", err
		}
	}
	crash.At(crash.UploadPending)
	id, err := s.Do(ctx)
	made := err == nil
	if kind, _ := job.Classify(err); err != nil && kind == job.KindUnknown {
		again, found, lookErr := s.Look(ctx, l.find(s))
		if lookErr != nil || !found {
			return "", fmt.Errorf("make the %s %s: %w", s.Kind, s.Name, err)
		}
		id, err = again, nil
	}
	if err != nil {
		return "", fmt.Errorf("make the %s %s: %w", s.Kind, s.Name, err)
	}
	crash.At(crash.UploadDone)
	l.note(s, id, made)
	return id, nil
}

// DoAll makes several effects happen, some at the same time, and returns their ids in the order of the steps. They are begun in that
// order. After a failure no further one is begun, and those under way come to their end. The error is that of the first step that failed.
func (l *Ledger) DoAll(ctx context.Context, steps []Step) ([]string, error) {
	ids, errs := make([]string, len(steps)), make([]error, len(steps))
	var failed atomic.Bool
	var begun sync.WaitGroup
	places := make(chan struct{}, l.atOnce)
	for i, s := range steps {
		places <- struct{}{}
		if failed.Load() { // looked at here, so that the steps that are begun are always the first ones
			break
		}
		begun.Go(func() {
			if ids[i], errs[i] = l.Do(ctx, s); errs[i] != nil {
				failed.Store(true)
			}
			<-places
		})
	}
	begun.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// Encode returns the ledger as it is, for a caller that writes it together with something else.
func (l *Ledger) Encode() (json.RawMessage, error) { return encode(l.Entries()) }

func encode(entries []Entry) (json.RawMessage, error) {
	doc, err := json.Marshal(entries)
	if err != nil {
		return nil, fmt.Errorf("encode the ledger of the delivery: %w", err)
	}
	return doc, nil
}

// Forget makes an effect absent again, because it is gone on the other side.
func (l *Ledger) Forget(kind, name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.write(slices.DeleteFunc(slices.Clone(l.entries), func(e Entry) bool { return e.Kind == kind && e.Name == name }))
}

func (l *Ledger) find(s Step) Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := index(l.entries, s.Kind, s.Name); i >= 0 {
		return l.entries[i]
	}
	return Entry{Kind: s.Kind, Name: s.Name, State: StateAbsent}
}

func index(entries []Entry, kind, name string) int {
	return slices.IndexFunc(entries, func(e Entry) bool { return e.Kind == kind && e.Name == name })
}

// note remembers that the step has happened, and whether this ledger made it. The write may wait for the next one: until then the disk
// says that it may have happened.
func (l *Ledger) note(s Step, id string, made bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = l.with(s, StateDone, id)
	l.entries[index(l.entries, s.Kind, s.Name)].made = made
}

// pend writes that the step may happen from now on.
func (l *Ledger) pend(s Step) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.write(l.with(s, StatePending, ""))
}

// with returns the entries with that of the step as it is now. The caller holds the lock.
func (l *Ledger) with(s Step, state State, id string) []Entry {
	e := Entry{Kind: s.Kind, Name: s.Name, SHA256: s.SHA256, Size: s.Size, State: state, ID: id}
	entries := slices.Clone(l.entries)
	if i := index(entries, s.Kind, s.Name); i >= 0 {
		entries[i] = e
		return entries
	}
	return append(entries, e)
}

// write saves the entries and only then takes them for true. The caller holds the lock.
func (l *Ledger) write(entries []Entry) error {
	doc, err := encode(entries)
	if err != nil {
		return err
	}
	if err := l.save(doc); err != nil {
		return fmt.Errorf("save the ledger of the delivery: %w", err)
	}
	l.entries = entries
	return nil
}
