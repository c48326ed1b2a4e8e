package runs

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// comparePage is what the page of a comparison shows.
type comparePage struct {
	Comparison
	// Columns is the number of columns of the table, Same the number of settings that are the same.
	Columns, Same int
	// First has for each run the address of the comparison that begins with it.
	First []string
	// Boards are the runs for a page of TensorBoard, with commas between them; empty where there is none.
	Boards string
}

func (s *Section) showCompare(w http.ResponseWriter, req *http.Request) error {
	ctx := req.Context()
	c, err := s.compare(ctx, req.URL.Query()["run"])
	if err != nil {
		return err
	}
	p := comparePage{Comparison: c, Columns: len(c.Runs) + 1, Same: len(c.Settings) - c.Differing()}
	for i := range c.Runs {
		order := []string{c.Runs[i].Run}
		for j := range c.Runs {
			if j != i {
				order = append(order, c.Runs[j].Run)
			}
		}
		p.First = append(p.First, s.site.Link("compare")+"?"+url.Values{"run": order}.Encode())
	}
	if s.boards {
		p.Boards = strings.Join(c.names(), ",")
	}
	view := web.View{Title: c.title(), Nav: navRuns, Data: p}
	if id := c.Runs[0].Dataset.ID; !anyOther(c.Runs, id) {
		ds, _ := s.dataset(ctx, id, c.Runs[0].Dataset.Name)
		view.Dataset = &web.Dataset{ID: ds.ID, Name: ds.Name}
	}
	s.pages.compare.Show(w, req, http.StatusOK, view)
	return nil
}

// names are the names of the runs.
func (c Comparison) names() []string {
	out := make([]string, len(c.Runs))
	for i, run := range c.Runs {
		out[i] = run.Run
	}
	return out
}

func anyOther(runs []Compared, dataset string) bool {
	for _, run := range runs {
		if run.Dataset.ID != dataset {
			return true
		}
	}
	return false
}
