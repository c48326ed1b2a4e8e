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
	if text == parts[1] {
		out.run = text
	}
	return out, nil
}

// Find returns the version that text means for a user of dataset: a name, name/3, name@champion or the id of a run. Without
// text it is the newest version of the dataset, and a name alone means its newest version.
//
// The dataset's own models come first. A model of another dataset is found only where readable, which is asked for each
// dataset that could be meant, says yes. What cannot be found is a permanent error that lists what there is.
func (r *Registry) Find(dataset, text string, readable func(dataset string) (bool, error)) (Version, error) {
	text = strings.TrimSpace(text)
	own, err := r.All(dataset)
	if err != nil {
		return Version{}, err
	}
	if text == "" {
		if len(own) == 0 {
			return Version{}, job.Permanent(errors.New("this dataset has no model yet: train one on it first, name the model of another dataset, or choose a model file"))
		}
		return slices.MaxFunc(own, older), nil
	}
	wanted, err := parseRef(text)
	if err != nil {
		return Version{}, err
	}
	if v, ok, err := r.match(dataset, wanted); ok || err != nil {
		return v, err
	}
	found, err := r.elsewhere(dataset, wanted, readable)
	switch {
	case err != nil:
		return Version{}, err
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return Version{}, job.Permanent(fmt.Errorf("the model %s stands in %d datasets: name the run that you mean, %s", text, len(found), runs(found)))
	default:
		return Version{}, job.Permanent(fmt.Errorf("there is no model %s: %s", text, offer(own)))
	}
}

// ByAge puts versions into the order in which they were made, whatever their names.
func ByAge(versions []Version) { slices.SortStableFunc(versions, older) }

func older(a, b Version) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Version, b.Version))
}

// elsewhere returns what is meant in each of the other datasets that the user may read.
func (r *Registry) elsewhere(dataset string, wanted ref, readable func(string) (bool, error)) ([]Version, error) {
	var found []Version
	for _, other := range r.Datasets() {
		if other == dataset {
			continue
		}
		v, ok, err := r.match(other, wanted)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if ok, err = readable(other); err != nil {
			return nil, err
		}
		if ok {
			found = append(found, v)
		}
	}
	return found, nil
}

// match finds the newest version of one dataset that is meant.
func (r *Registry) match(dataset string, wanted ref) (Version, bool, error) {
	if wanted.champion {
		v, err := r.Champion(dataset, wanted.name)
		if v == nil || err != nil {
			return Version{}, false, err
		}
		return *v, true, nil
	}
	versions, err := r.Versions(dataset, wanted.name)
	if err == nil && len(versions) == 0 && wanted.run != "" {
		versions, err = r.All(dataset)
		versions = slices.DeleteFunc(versions, func(v Version) bool { return v.Run != wanted.run })
	}
	if wanted.number > 0 {
		versions = slices.DeleteFunc(versions, func(v Version) bool { return v.Version != wanted.number })
	}
	if err != nil || len(versions) == 0 {
		return Version{}, false, err
	}
	return versions[len(versions)-1], true, nil
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
