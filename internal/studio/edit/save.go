package edit

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/edit/merge"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// Newest is a version of a file that somebody else saved.
type Newest struct {
	Saved
	// Text is its text, empty where Known is false: Clowder cannot return it.
	Text  string `json:"text"`
	Known bool   `json:"text_known"`
}

// Outcome is what became of a save.
type Outcome struct {
	Saved
	// Unchanged says that the text was the one of the newest version, so that nothing was saved.
	Unchanged bool `json:"unchanged,omitempty" doc:"The text is that of the newest version; nothing was saved"`
	// Collision is a version that somebody saved in Clowder itself in the same instant; nil for none.
	Collision *Newest `json:"collision,omitempty" doc:"A version that somebody saved in Clowder in the same instant"`
}

// Stale is the refusal of a save whose text came from an older version. It has the newest one.
type Stale struct {
	web.Problem
	Newest Newest `json:"newest"`
}

// Unwrap returns the problem without the newest version.
func (s *Stale) Unwrap() error { return &s.Problem }

func stale(newest Newest, base string) *Stale {
	return &Stale{Newest: newest, Problem: web.Problem{
		Type: "version-changed", Title: "The file has a newer version", Status: http.StatusPreconditionFailed,
		Detail: fmt.Sprintf("%s saved version %d at %s; your text came from version %d.", newest.By, newest.Number, newest.At.UTC().Format("15:04:05 UTC"), numberOf(base)),
		Do:     "Merge both texts, then save with the tag of the newest version.",
	}}
}

// save stores a text as the next version of a file, if base is the tag of its newest version. The error is a *Stale where it is not.
func (s *Section) save(ctx context.Context, dataset, file, base, text string) (Outcome, error) {
	if base == "" {
		return Outcome{}, &web.Problem{
			Type: "version-missing", Title: "Which version did you change?", Status: http.StatusPreconditionRequired,
			Detail: "A save must name the version that its text came from.", Do: "Send the ETag of that version as If-Match.",
		}
	}
	if err := checkText(text); err != nil {
		return Outcome{}, err
	}
	if merge.Marked(text) {
		return Outcome{}, &web.Problem{
			Type: "conflict-marks", Title: "The text still has a conflict", Status: http.StatusUnprocessableEntity,
			Detail: "Some lines begin with " + merge.Begin + " or " + merge.End + ".", Do: "Choose one side for each of them, then save again.",
		}
	}
	free, err := s.locks.take(ctx, file)
	if err != nil {
		return Outcome{}, err
	}
	defer free()
	return s.saveLocked(ctx, dataset, file, base, text)
}

func (s *Section) saveLocked(ctx context.Context, dataset, file, base, text string) (Outcome, error) {
	state, role, err := s.state(ctx, dataset, file, clowder.RoleEditor)
	if err != nil {
		return Outcome{}, err
	}
	if why, do, _ := mayNotSave(web.VisitorOf(ctx), role, state); why != "" {
		return Outcome{}, &web.Problem{Type: "read-only", Title: "This file is read only", Status: http.StatusForbidden, Detail: why, Do: do}
	}
	current, err := s.version(ctx, state, 0)
	if err != nil {
		return Outcome{}, err
	}
	switch {
	case tag(state) != base:
		return Outcome{}, stale(Newest{Saved: savedOf(state), Text: current, Known: true}, base)
	case current == text:
		return Outcome{Saved: savedOf(state), Unchanged: true}, nil
	}
	// From here on a visitor who goes away must not leave a version that nobody looked at.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	made, err := filesOf(ctx).Update(ctx, state, []byte(text))
	if err != nil {
		if made, err = s.afterDoubt(ctx, state, text, err); err != nil {
			return Outcome{}, err
		}
	}
	out := Outcome{Saved: savedOf(made)}
	if out.Collision, err = s.collision(ctx, state, made, text); err != nil {
		return Outcome{}, &web.Problem{
			Type: "not-verified", Title: "Saved, but not verified", Status: http.StatusBadGateway,
			Detail: fmt.Sprintf("Your text is version %d. Clowder did not say whether somebody else saved in the same instant.", made.Version),
			Do:     "Open the file again and look at its history.",
		}
	}
	out.Twice = out.Collision != nil && out.Collision.Twice
	s.presence.saved(file, out.Saved)
	return out, nil
}

// saveTime limits a save that has begun.
const saveTime = 2 * time.Minute

// afterDoubt finds out what became of an update without a clear answer: Clowder can fail after it has stored a version.
func (s *Section) afterDoubt(ctx context.Context, before clowder.FileState, text string, doubt error) (clowder.FileState, error) {
	if kind, _ := job.Classify(doubt); kind != job.KindUnknown {
		return clowder.FileState{}, doubt
	}
	now, err := filesOf(ctx).FileState(ctx, before.ID)
	if err != nil {
		return clowder.FileState{}, doubt
	}
	if tag(now) == tag(before) {
		return clowder.FileState{}, doubt
	}
	current, err := s.version(ctx, now, 0)
	if err != nil {
		return clowder.FileState{}, doubt
	}
	if now.Creator == web.VisitorOf(ctx).Email && current == text {
		return now, nil
	}
	return clowder.FileState{}, stale(Newest{Saved: savedOf(now), Text: current, Known: true}, tag(before))
}

// collision looks for a version that somebody saved in Clowder itself in the same instant: it has the number of ours, or it came between
// the version that was compared and ours.
func (s *Section) collision(ctx context.Context, before, made clowder.FileState, mine string) (*Newest, error) {
	versions, err := filesOf(ctx).Versions(ctx, made.ID, maxHistory)
	if err != nil {
		return nil, err
	}
	for _, other := range versions {
		if other.ID == made.VersionID || other.ID == before.VersionID || other.Number <= before.Version || other.Number > made.Version {
			continue
		}
		newest := &Newest{Saved: Saved{
			Number: other.Number, Tag: tagOf(other.Number, other.ID), By: other.Creator, At: other.SavedAt, Bytes: other.Size, Twice: other.Number == made.Version,
		}}
		// Either of these can be ours, and both can be.
		for _, number := range []int{other.Number, 0} {
			if text, err := s.version(ctx, made, number); err == nil && text != mine {
				newest.Text, newest.Known = text, true
				break
			}
		}
		return newest, nil
	}
	return nil, nil //nolint:nilnil // no collision is no error
}
