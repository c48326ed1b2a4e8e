package edit

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/ncsa/clowder-ray/internal/studio/edit/merge"
	"github.com/ncsa/clowder-ray/internal/studio/web"
	"github.com/ncsa/clowder-ray/internal/text"
)

// mergeView is the merge of a visitor's text with a version of somebody else, for a page without script.
type mergeView struct {
	By string
	// Conflicts are the places that both changed.
	Conflicts []conflictView
	// Mine and MineBase are the visitor's text and the version that it came from, so that another side can be chosen.
	Mine, MineBase string
}

type conflictView struct {
	Where        string
	Mine, Theirs string
}

// showMerge shows the visitor's text merged with the newest version, which is what the next save names.
func (s *Section) showMerge(w http.ResponseWriter, req *http.Request, view *editorView, form form, newest Newest) error {
	merged, err := s.merged(req, view, form.base, form.text, newest.Text)
	if err != nil {
		return err
	}
	view.Base, view.Content, view.Newest = newest.Tag, merged.Text(), newest.Saved
	begin := fmt.Sprintf("%s saved version %d while you were writing. ", newest.By, newest.Number)
	view.Notice = &Notice{"waiting", begin + "That change and yours are in different lines and are merged below: read it, then save."}
	if merged.Conflicts > 0 {
		view.Merge = viewOf(merged, newest.By, form.text, form.base)
		view.Notice.Text = begin + "Both changed " + places(view.Merge.Conflicts) + ": choose, then save."
	}
	s.show(w, req, http.StatusPreconditionFailed, view)
	return nil
}

// resolve chooses one side in all conflicts of a merge that was shown.
func (s *Section) resolve(w http.ResponseWriter, req *http.Request, view *editorView, form form) error {
	merged, err := s.merged(req, view, form.mineBase, form.mine, view.Text)
	if err != nil {
		return err
	}
	view.Content = merged.Mine()
	view.Notice = &Notice{"waiting", "Your lines stand in all places that both changed. Read the text, then save."}
	if form.do == "take" {
		view.Content = merged.Theirs()
		view.Notice.Text = "The lines of " + view.Newest.By + " stand in all places that both changed. Read the text, then save."
	}
	s.show(w, req, http.StatusOK, view)
	return nil
}

// showCollision says that somebody saved in Clowder in the same instant. The visitor's text is saved; theirs is merged into it.
func (s *Section) showCollision(w http.ResponseWriter, req *http.Request, view *editorView, form form, out Outcome) error {
	other := *out.Collision
	view.Base, view.Content, view.Newest = out.Tag, form.text, out.Saved
	begin := fmt.Sprintf("Saved as version %d. %s saved version %d in Clowder in the same instant. ", out.Number, other.By, other.Number)
	if !other.Known {
		view.Notice = &Notice{"waiting", begin + fmt.Sprintf("Clowder no longer returns that text (%s): ask its author.", text.Bytes(other.Bytes))}
		s.show(w, req, http.StatusOK, view)
		return nil
	}
	merged, err := s.merged(req, view, form.base, form.text, other.Text)
	if err != nil {
		return err
	}
	view.Content = merged.Text()
	view.Notice = &Notice{"waiting", begin + "Both are merged below: read it, then save."}
	if merged.Conflicts > 0 {
		view.Notice.Text = begin + "Both changed " + places(viewOf(merged, "", "", "").Conflicts) + ": choose between the marks, then save."
	}
	s.show(w, req, http.StatusOK, view)
	return nil
}

// merged merges two texts that came from the version with this tag. Where Clowder does not return that version, all that differs is a
// conflict.
func (s *Section) merged(req *http.Request, view *editorView, base, mine, theirs string) (merge.Result, error) {
	common := ""
	if number := numberOf(base); number > 0 {
		found, err := s.version(req.Context(), view.File, number)
		if err != nil && web.AsProblem(err) != web.NotFound {
			return merge.Result{}, err
		}
		common = found
	}
	return merge.Three(common, mine, theirs), nil
}

func viewOf(merged merge.Result, by, mine, base string) *mergeView {
	v := &mergeView{By: by, Mine: mine, MineBase: base}
	for _, p := range merged.Parts {
		if p.Conflict {
			where := fmt.Sprintf("line %d", p.Line)
			if p.Lines > 1 {
				where = fmt.Sprintf("lines %d to %d", p.Line, p.Line+p.Lines-1)
			}
			v.Conflicts = append(v.Conflicts, conflictView{Where: where, Mine: strings.TrimSuffix(p.Mine, "\n"), Theirs: strings.TrimSuffix(p.Theirs, "\n")})
		}
	}
	return v
}

// places names the places of conflicts.
func places(conflicts []conflictView) string {
	names := make([]string, 0, len(conflicts))
	for _, c := range conflicts {
		names = append(names, c.Where)
	}
	return text.ListSome(names, 5, 40)
}
