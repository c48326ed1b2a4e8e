package runs

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/clowder/pick"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
	"github.com/ncsa/clowder-ray/internal/text"
)

// submit sends a dataset to an extractor through Clowder, with the credential of the visitor. Parameters are checked first, so that a
// mistake is known at once, and so is the settings file of a training, unless checks is nil. Two submissions of one visitor with the same key
// are one.
func (s *Section) submit(ctx context.Context, dataset, extractor string, parameters map[string]any, key string, checks Settings) (Sent, error) {
	e, ok := s.forms.Named(extractor)
	if !ok {
		var names []string
		for _, f := range s.forms {
			if f.Kind != KindRuns {
				names = append(names, f.Name)
			}
		}
		return Sent{}, &web.Problem{
			Type: "extractor", Title: "Unknown extractor", Status: http.StatusUnprocessableEntity,
			Detail: fmt.Sprintf("There is no extractor %q.", text.Excerpt(extractor, 60)), Do: "Use " + text.Choice(names) + ".",
		}
	}
	v := web.VisitorOf(ctx)
	if _, err := web.CheckRole(ctx, s.rights, dataset, clowder.RoleUploader); err != nil {
		return Sent{}, err
	}
	values, _, err := e.Info.Parameters(parameters)
	if err != nil {
		return Sent{}, &web.Problem{
			Type: "parameters", Title: "A setting is not valid", Status: http.StatusUnprocessableEntity, Detail: text.Capital(err.Error()) + ".", Do: "Correct it, then send it again.",
		}
	}
	file := settingsFile(values, dataset)
	return s.sent.make(v.Session, key, s.now(), func() (Sent, error) {
		if file != "" && e.Kind == KindTrain && checks != nil {
			if err := checks.Check(ctx, dataset, file); err != nil {
				return Sent{}, err
			}
		}
		job, err := s.clowder.Submit(ctx, v, dataset, e.Name, parameters)
		if err != nil {
			return Sent{}, err
		}
		named, _ := s.dataset(ctx, dataset, "")
		return Sent{Run: s.runOf(e.Name, job), JobID: job, Dataset: named, Kind: e.Kind, Noun: e.Noun, By: v.Email, At: s.now()}, nil
	})
}

// settingsFile returns the id or the name of the settings file that values choose in the dataset, or an empty text. One of another dataset is
// checked when the run begins.
func settingsFile(values map[string]any, dataset string) string {
	value, _ := values["config_file"].(string)
	picks, err := pick.Parse(value)
	if err != nil || len(picks) != 1 || picks[0].Dataset != "" && picks[0].Dataset != dataset {
		return ""
	}
	return cmp.Or(picks[0].ID, picks[0].Name)
}

// pending returns a run that was sent to Clowder and that the service has not heard of, if the visitor may see it.
func (s *Section) pending(ctx context.Context, run string) (Sent, bool) {
	sent, ok := s.sent.of(run, s.now())
	if !ok || sent.Dataset.ID == "" {
		return Sent{}, false
	}
	_, err := s.look(ctx, sent.Dataset.ID)
	return sent, err == nil
}

// manager is the extractor that manages runs.
func (all Forms) manager() (Form, bool) {
	for _, f := range all {
		if f.Kind == KindRuns {
			return f, true
		}
	}
	return Form{}, false
}

// startable are the extractors that a visitor can choose from.
func (all Forms) startable() (out Forms) {
	for _, f := range all {
		if f.Kind != KindRuns {
			out = append(out, f)
		}
	}
	return out
}

// parametersOf reads the parameters that a form of ours posts. Only those that differ from the default are sent on, under the names and in
// the groups that Clowder's own form uses.
func parametersOf(info *form.Info, posted url.Values) map[string]any {
	flat := map[string]any{}
	for _, f := range info.Fields() {
		value := posted.Get(f.Name)
		if f.Type == "boolean" && !posted.Has(f.Name) {
			value = "false" // a box that is not ticked posts nothing
		}
		if strings.TrimSpace(value) != "" {
			flat[f.Name] = strings.ReplaceAll(value, "\r\n", "\n")
		}
	}
	if checked, _, err := info.Parameters(flat); err == nil {
		flat = info.Changed(checked)
	}
	return grouped(flat) // with what is wrong in it, which is then said
}

// grouped puts the parameters group.name into their groups.
func grouped(flat map[string]any) map[string]any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(flat)) {
		group, inner, ok := strings.Cut(name, ".")
		if !ok {
			out[name] = flat[name]
			continue
		}
		members, _ := out[group].(map[string]any)
		if members == nil {
			members = map[string]any{}
			out[group] = members
		}
		members[inner] = flat[name]
	}
	return out
}

// before are the settings of an earlier run, to begin a form with: what its user chose.
func before(rec job.Record, e Form) map[string]any {
	if len(rec.Settings.Values) > 0 {
		return e.Info.Changed(rec.Settings.Values)
	}
	chosen := map[string]any{}
	for name, value := range rec.Request.Parameters { // one by one: what was wrong in them is left out
		if right, _, err := e.Info.Parameters(map[string]any{name: value}); err == nil {
			maps.Copy(chosen, e.Info.Changed(right))
		}
	}
	return chosen
}

// Train starts a training of a dataset with a settings file that has been checked, by the id of the file, and returns the name of the run.
func (s *Section) Train(ctx context.Context, dataset, settings, key string) (string, error) {
	sent, err := s.submit(ctx, dataset, s.forms.trainer().Name, map[string]any{"config_file": settings}, key, nil)
	return sent.Run, err
}

// LastSettings returns what the user of the newest training of a dataset chose, by the names of the options with their groups; none where
// there was no training. The caller may see the dataset.
func (s *Section) LastSettings(ctx context.Context, dataset string) (map[string]any, error) {
	if _, err := s.look(ctx, dataset); err != nil {
		return nil, err
	}
	newest, err := s.records.List(ctx, job.Query{Dataset: dataset, Limit: lookedAt})
	if err != nil {
		return nil, err
	}
	for _, rec := range slices.Backward(newest) {
		if e := s.forms.Of(rec.Request); s.shows(rec) && e.Kind == KindTrain {
			return before(rec, e), nil
		}
	}
	return map[string]any{}, nil
}

// lookedAt is how many of the newest runs of a dataset are looked at to find a training.
const lookedAt = 50

// trainer is the extractor that trains with the short form.
func (all Forms) trainer() Form {
	for _, f := range all {
		if f.Kind == KindTrain {
			return f
		}
	}
	return all[0]
}
