package runs

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/ncsa/clowder-ray/internal/studio/web"
	"github.com/ncsa/clowder-ray/internal/text"
)

// listPage is what a list of runs shows.
type listPage struct {
	List
	Heading, Tally string
	// Mine says that it is the visitor's own runs of all datasets.
	Mine     bool
	CanTrain bool
	Owner    string
	Forms    []choice
	Filter   Filter
	Filtered bool
	States   []string
	Kinds    []choice
	Models   []string
	People   []string
	// Plain is the list without filters, Older and Newest are other pages; empty where there are none.
	Plain, Older, Newest string
	// Outage says that Clowder does not answer, so that the role may be an old one.
	Outage bool
}

// choice is an entry of a menu, or a link.
type choice struct {
	Value, Word, Link string
	First             bool
}

// kindChoices are the kinds of runs.
var kindChoices = []choice{{Value: KindTrain, Word: "trainings"}, {Value: KindPredict, Word: "predictions"}, {Value: KindScript, Word: "scripts"}}

func filterOf(q url.Values) Filter {
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil {
		limit = 0
	}
	f := Filter{State: q.Get("state"), Kind: q.Get("kind"), Model: q.Get("model"), By: q.Get("user"), Text: q.Get("q"), Limit: limit, Cursor: q.Get("cursor")}
	if !slices.Contains(StateNames(), f.State) {
		f.State = ""
	}
	return f
}

func (s *Section) showMine(w http.ResponseWriter, req *http.Request) error {
	f := filterOf(req.URL.Query())
	f.By = ""
	p, err := s.listPage(req, f, s.site.Link())
	if err != nil {
		return err
	}
	p.Mine, p.Heading = true, "My runs"
	s.pages.list.Show(w, req, http.StatusOK, web.View{Title: p.Heading, Nav: navRuns, Data: p})
	return nil
}

func (s *Section) showList(w http.ResponseWriter, req *http.Request) error {
	ctx, f := req.Context(), filterOf(req.URL.Query())
	f.Dataset = req.PathValue("ds")
	p, err := s.listPage(req, f, s.site.Link("datasets", f.Dataset, "runs"))
	if err != nil {
		return err
	}
	name := ""
	if len(p.Runs) > 0 {
		name = p.Runs[0].Dataset.Name
	}
	ds, owner := s.dataset(ctx, f.Dataset, name)
	p.Heading, p.CanTrain, p.Owner = "Runs", mayTrain(p.Role), owner
	for i, e := range s.forms.startable() {
		if e.Kind == KindTrain && i > 0 {
			continue // the form leads to the one with every option
		}
		p.Forms = append(p.Forms, choice{Word: s.forms.verb(i), Link: s.trainLink(ds.ID, e.Name), First: i == 0})
	}
	people := map[string]bool{}
	for _, row := range p.Runs {
		if row.By != "" && !people[row.By] {
			people[row.By] = true
			p.People = append(p.People, row.By)
		}
	}
	if f.By != "" && !people[f.By] {
		p.People = append(p.People, f.By)
	}
	s.pages.list.Show(w, req, http.StatusOK, web.View{Title: "Runs of " + ds.Name, Dataset: &web.Dataset{ID: ds.ID, Name: ds.Name}, Nav: navRuns, Data: p})
	return nil
}

// listPage fills what both lists have.
func (s *Section) listPage(req *http.Request, f Filter, address string) (listPage, error) {
	list, err := s.list(req.Context(), f)
	if err != nil {
		return listPage{}, err
	}
	p := listPage{
		List: list, Filter: f, Filtered: f.State+f.Kind+f.Model+f.By+f.Text != "", States: StateNames(), Kinds: kindChoices,
		Plain: address, Outage: !s.site.Outage().IsZero(),
	}
	if len(list.Runs) > 0 {
		p.Tally = list.tally()
	}
	if f.Model != "" {
		p.Models = append(p.Models, f.Model)
	}
	for _, row := range list.Runs {
		if row.Model != nil && !slices.Contains(p.Models, row.Model.Name) {
			p.Models = append(p.Models, row.Model.Name)
		}
	}
	q := req.URL.Query()
	if f.Cursor != "" {
		q.Del("cursor")
		p.Newest = withQuery(address, q)
	}
	if list.Next != "" {
		q.Set("cursor", list.Next)
		p.Older = withQuery(address, q)
	}
	return p, nil
}

func withQuery(address string, q url.Values) string {
	if len(q) == 0 {
		return address
	}
	return address + "?" + q.Encode()
}

// trainLink leads to the form of an extractor.
func (s *Section) trainLink(dataset, extractor string) string {
	return s.site.Link("datasets", dataset, "train") + "?extractor=" + url.QueryEscape(extractor)
}

// verb is what a button says that starts a run of the extractor with this number. The second one that trains has the form with every option.
func (all Forms) verb(i int) string {
	switch e := all[i]; e.Kind {
	case KindTrain:
		if i > 0 {
			return "Train with every option"
		}
		return "Train"
	case KindPredict:
		return "Predict"
	case KindScript:
		return "Run a script"
	default:
		return text.Capital(all[i].Noun)
	}
}
