package results

import (
	"cmp"
	"slices"

	"github.com/ncsa/clowder-ray/internal/disk"
)

// maxEventsOfAKind bounds what ReadEvents keeps of each kind of events. A report cannot show more of them.
const maxEventsOfAKind = 4000

// ReadEvents reads the event log of a run that is over. A run without one has no events. Of the kinds that tell how the training
// went, a long log gives a selection that is spread over the whole training and ends with the last one; of all others it gives the
// first. Whatever the log holds, the result takes some megabytes at most.
func ReadEvents(dir disk.Folder) ([]Event, error) {
	kept := map[Kind]*selection{}
	t, n := NewTail(dir), 0
	for {
		offset, holes := t.Offset, t.holes
		events, err := t.Next()
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			s := kept[e.Kind]
			if s == nil {
				if !known(e.Kind) {
					continue
				}
				s = &selection{spread: e.Kind == KindProgress || e.Kind == KindEval || e.Kind == KindBest || e.Kind == KindTrial, every: 1}
				kept[e.Kind] = s
			}
			s.add(numbered{n, e})
			n++
		}
		if t.Offset == offset && t.holes == holes {
			return inOrder(kept), nil
		}
	}
}

// numbered is an event with its place in the log.
type numbered struct {
	n int
	Event
}

// selection is what is kept of the events of one kind.
type selection struct {
	// spread says that the events are spread over the whole log; else the first are kept.
	spread bool
	kept   []numbered
	// Of those that are spread, one of every is kept, and skipped were left out since. last is the newest of all.
	every, skipped int
	last           numbered
}

func (s *selection) add(e numbered) {
	if !s.spread {
		if len(s.kept) < maxEventsOfAKind {
			s.kept = append(s.kept, e)
		}
		return
	}
	s.last = e
	if s.skipped++; s.skipped < s.every {
		return
	}
	s.skipped = 0
	s.kept = append(s.kept, e)
	if len(s.kept) == maxEventsOfAKind {
		half := s.kept[:0]
		for i := 1; i < len(s.kept); i += 2 {
			half = append(half, s.kept[i])
		}
		clear(s.kept[len(half):])
		s.kept, s.every = half, 2*s.every
	}
}

// inOrder returns what is kept of all kinds in the order of the log.
func inOrder(kept map[Kind]*selection) []Event {
	var all []numbered
	for _, s := range kept {
		all = append(all, s.kept...)
		if s.spread && (len(s.kept) == 0 || s.kept[len(s.kept)-1].n != s.last.n) {
			all = append(all, s.last)
		}
	}
	slices.SortFunc(all, func(a, b numbered) int { return cmp.Compare(a.n, b.n) })
	events := make([]Event, len(all))
	for i, e := range all {
		events[i] = e.Event
	}
	return events
}

// known reports whether a kind of events is used here at all.
func known(k Kind) bool {
	switch k {
	case KindPhase, KindDecision, KindProgress, KindEval, KindBest, KindWarning, KindCheckpoint, KindResume, KindResource, KindError, KindDone, KindTrial:
		return true
	default:
		return false
	}
}
