package registry

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
)

// refForm is what people type: a name, perhaps with a version or an alias. A run id has the form of a name.
var refForm = regexp.MustCompile(`^([^/@[:cntrl:]]+)(?:/([1-9][0-9]{0,8})|@(champion))?$`)

// ref is a way to mean a version.
type ref struct {
	name     string
	run      string
	number   int
	champion bool
}

func parseRef(text string) (ref, error) {
	parts := refForm.FindStringSubmatch(text)
	if parts == nil || len(text) > 200 {
		return ref{}, job.Permanent(fmt.Errorf("the model %.60q cannot be read: write a name, name/3, name@champion or the id of a run", text))
	}
	number, _ := strconv.Atoi(parts[2])
	out := ref{name: Slug(parts[1]), number: number, champion: parts[3] != ""}
	if text == parts[1] && idForm.MatchString(text) {
		out.run = text
	}
	return out, nil
}

// Find returns the version that text means for a user of a dataset: a name, name/3, name@champion or the id of a run. Without
// text it is the newest version of the dataset, and a name alone means its newest version. Versions that cannot be read are left
// out; the error about exactly such a one wraps ErrUnreadable.
//
// The dataset's own models come first. A model of another dataset is found only where readable, which is asked for each
// dataset that could be meant, says yes, and only within the same Clowder: it is the one that is asked. Those that were registered
// before folders named the Clowder belong to all. For a folder of this machine all datasets of all Clowders are the others.
// What cannot be found is a permanent error that lists what there is.
func (r *Registry) Find(of Dataset, text string, readable func(dataset string) (bool, error)) (Version, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		own, err := r.All(of)
		if err == nil && len(own) == 0 {
			err = job.Permanent(errors.New("this dataset has no model yet: train one on it first, name the model of another dataset, or choose a model file"))
		}
		if err != nil {
			return Version{}, err
		}
		return slices.MaxFunc(own, older), nil
	}
	wanted, err := parseRef(text)
	if err != nil {
		return Version{}, err
	}
	if v, ok, err := r.match(of, wanted); ok || err != nil {
		return v, err
	}
	found, err := r.elsewhere(of, wanted, readable)
	switch {
	case err != nil:
		return Version{}, err
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return Version{}, job.Permanent(fmt.Errorf("the model %s stands in %d datasets: name the run that you mean, %s", text, len(found), runs(found)))
	}
	own, err := r.All(of)
	if err != nil {
		return Version{}, err
	}
	return Version{}, job.Permanent(fmt.Errorf("there is no model %s: %s", text, offer(own)))
}

// ByAge puts versions into the order in which they were made, whatever their names.
func ByAge(versions []Version) { slices.SortStableFunc(versions, older) }

func older(a, b Version) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Version, b.Version))
}

// elsewhere returns what is meant in each of the other datasets that the user may read. What cannot be read there is an error
// only where nothing else is found.
func (r *Registry) elsewhere(of Dataset, wanted ref, readable func(string) (bool, error)) ([]Version, error) {
	var found []Version
	var damaged error
	for _, other := range r.others(of) {
		v, ok, fault := r.match(other, wanted)
		if !ok && fault == nil {
			continue
		}
		may, err := readable(other.ID)
		switch {
		case err != nil:
			return nil, err
		case may && fault != nil:
			damaged = fault
		// Two Clowders that have a dataset of this id both have what was registered before folders named the Clowder.
		case may && !slices.ContainsFunc(found, func(o Version) bool { return o.folder == v.folder && o.Ref() == v.Ref() }):
			found = append(found, v)
		}
	}
	if len(found) == 0 {
		return nil, damaged
	}
	return found, nil
}

// others are the datasets whose models somebody may use besides those of a dataset.
func (r *Registry) others(of Dataset) []Dataset {
	var out []Dataset
	if of.Folder() == Local {
		out = r.Datasets()
	} else {
		for _, d := range r.datasetFolders() {
			if d.mark == "" || d.mark == of.clowder() {
				out = append(out, Dataset{Clowder: of.Clowder, ID: d.ID, mark: of.mark})
			}
		}
		slices.SortFunc(out, func(a, b Dataset) int { return cmp.Compare(a.ID, b.ID) })
	}
	out = slices.DeleteFunc(out, func(d Dataset) bool { return d.ID == of.ID })
	return slices.Compact(out)
}

// match finds the newest version of one dataset that is meant.
func (r *Registry) match(of Dataset, wanted ref) (Version, bool, error) {
	switch {
	case wanted.champion:
		v, err := r.Champion(of, wanted.name)
		if v == nil || err != nil {
			return Version{}, false, err
		}
		return *v, true, nil
	case wanted.number > 0:
		return r.version(of, wanted.name, wanted.number)
	}
	v, ok, err := r.newest(of, wanted.name)
	if ok || err != nil || wanted.run == "" {
		return v, ok, err
	}
	all, err := r.All(of)
	if err != nil {
		return Version{}, false, err
	}
	all = slices.DeleteFunc(all, func(v Version) bool { return v.Run != wanted.run })
	if len(all) == 0 {
		return Version{}, false, nil
	}
	return all[len(all)-1], true, nil
}

// offered is how many models an error lists.
const offered = 10

func offer(own []Version) string {
	if len(own) == 0 {
		return "this dataset has none, and no other that you may read has one of this name"
	}
	own = own[max(0, len(own)-offered):]
	refs := make([]string, len(own))
	for i, v := range own {
		refs[i] = v.Ref()
	}
	return "this dataset has " + strings.Join(refs, ", ")
}

func runs(versions []Version) string {
	out := make([]string, 0, offered)
	for _, v := range versions[:min(len(versions), offered)] {
		out = append(out, fmt.Sprintf("%s (dataset %s)", v.Run, v.DatasetName))
	}
	return strings.Join(out, " or ")
}
