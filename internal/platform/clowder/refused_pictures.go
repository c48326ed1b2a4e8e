package clowder

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"sync"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
	"github.com/ncsa/clowder-ray/internal/text"
)

// refusedPictures collects the pictures that Clowder does not show. A picture is delivered as a file, too, so a delivery can do without its preview or
// thumbnail. It is safe for concurrent use.
type refusedPictures struct {
	// crashes says that this Clowder answers 500 to some of what it refuses; see ability.Set.RefusesWith500.
	crashes bool

	mu    sync.Mutex
	names []string
	first error
}

// spare lets a step succeed although Clowder refuses it. Where a 500 may be a refusal, the step is made once more before it counts as one.
func (p *refusedPictures) spare(step delivery.Step) delivery.Step {
	do := step.Do
	step.Do = func(ctx context.Context) (string, error) {
		id, err := do(ctx)
		if p.crashes && clowder.StatusOf(err) == http.StatusInternalServerError {
			made, found, lookErr := step.Look(ctx, delivery.Entry{})
			if lookErr != nil || found {
				return made, lookErr
			}
			id, err = do(ctx)
		}
		if err == nil || !p.refused(err) {
			return id, err
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.names = append(p.names, path.Base(step.Name)); p.first == nil {
			p.first = err
		}
		return "", nil
	}
	return step
}

// refused reports whether an error is an answer that stays the same.
func (p *refusedPictures) refused(err error) bool {
	status := clowder.StatusOf(err)
	kind, _ := job.Classify(err)
	return p.crashes && status == http.StatusInternalServerError || status != 0 && kind == job.KindPermanent
}

// tell says which pictures are not shown, if there are any. No step may be under way.
func (p *refusedPictures) tell(say func(string)) {
	slices.Sort(p.names)
	if names := slices.Compact(p.names); len(names) > 0 {
		say(fmt.Sprintf("Note: everything is delivered, but Clowder does not show %s: %v", text.ListSome(names, 3, 40), p.first))
	}
}
