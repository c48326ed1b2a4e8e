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
	"github.com/ncsa/clowder-ray/internal/text"
)

// refForm matches what users type: a name, optionally with a version or an alias. A run id has the form of a name.
var refForm = regexp.MustCompile(`^([^/@[:cntrl:]]+)(?:/([1-9][0-9]{0,8})|@(champion))?$`)

// ref is a parsed reference to a version.
type ref struct {
	name     string
	run      string
	number   int
	champion bool
}

func parseRef(typed string) (ref, error) {
	parts := refForm.FindStringSubmatch(typed)
	if parts == nil || len(typed) > 200 {
		return ref{}, job.Permanent(fmt.Errorf("%.60q is not a model: write a name, name/3, name@champion or the id of a run", typed))
	}
	number, _ := strconv.Atoi(parts[2])
	out := ref{name: Slug(parts[1]), number: number, champion: parts[3] != ""}
	if typed == parts[1] && idForm.MatchString(typed) {
		out.run = typed
	}
	return out, nil
}

// Find returns the version that the user typed for a user of a dataset: a name, name/3, name@champion or the id of a run. Empty input
// is the newest version of the dataset, and a name is its newest version. Unreadable versions are skipped. If the user typed exactly
// such a version, the error wraps ErrUnreadable.
//
// The dataset's own models come first. Models of other datasets count only within the same Clowder, and only if readable returns true
// for the dataset. Models in folders without a mark belong to all Clowders. For a folder of this machine, all datasets of all Clowders
// are other datasets. If nothing is found, the error is permanent and lists the models of the dataset.
func (r *Registry) Find(of Dataset, typed string, readable func(dataset string) (bool, error)) (Version, error) {
	typed = strings.TrimSpace(typed)
	if typed == "" {
		own, err := r.All(of)
		if err == nil && len(own) == 0 {
			err = job.Permanent(errors.New("this dataset has no model yet: train one first, enter the model of another dataset, or choose a model file"))
		}
		if err != nil {
			return Version{}, err
		}
		return slices.MaxFunc(own, older), nil
	}
	wanted, err := parseRef(typed)
	if err != nil {
		return Version{}, err
	}
	if v, ok, err := r.match(of, wanted); ok || err != nil {
		return v, err
	}
	found, err := r.matchOthers(of, wanted, readable)
	switch {
	case err != nil:
		return Version{}, err
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return Version{}, job.Permanent(fmt.Errorf("%d datasets have a model %s: enter the id of the run instead, %s", len(found), typed, runs(found)))
	}
	own, err := r.All(of)
	if err != nil {
		return Version{}, err
	}
	return Version{}, job.Permanent(fmt.Errorf("there is no model %s: %s", typed, listed(own)))
}

// ByAge sorts versions by the time when they were made.
func ByAge(versions []Version) { slices.SortStableFunc(versions, older) }

func older(a, b Version) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Version, b.Version))
}

// matchOthers returns the matching version of each other dataset that the user may read. An unreadable version is an error only if nothing
// else is found.
func (r *Registry) matchOthers(of Dataset, wanted ref, readable func(string) (bool, error)) ([]Version, error) {
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
		// Two Clowders with a dataset of this id both list the versions in the folder without a mark.
		case may && !slices.ContainsFunc(found, func(o Version) bool { return o.folder == v.folder && o.Ref() == v.Ref() }):
			found = append(found, v)
		}
	}
	if len(found) == 0 {
		return nil, damaged
	}
	return found, nil
}

// others lists the other datasets whose models a user of this dataset could use.
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

// match returns the newest version of one dataset that the reference matches.
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

// maxListed is how many models an error lists.
const maxListed = 10

func listed(own []Version) string {
	if len(own) == 0 {
		return "this dataset has no models, and no dataset that you can read has one with this name"
	}
	own = own[max(0, len(own)-maxListed):]
	refs := make([]string, len(own))
	for i, v := range own {
		refs[i] = v.Ref()
	}
	return "this dataset has " + strings.Join(refs, ", ")
}

func runs(versions []Version) string {
	out := make([]string, 0, maxListed)
	for _, v := range versions[:min(len(versions), maxListed)] {
		out = append(out, fmt.Sprintf("%s (dataset %s)", v.Run, v.DatasetName))
	}
	return text.Choice(out)
}
