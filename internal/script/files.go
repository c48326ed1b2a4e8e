package script

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
)

const (
	requirementsFile = "requirements.txt"
	// ignore is the value of requirements_file with which a user wants no packages.
	ignore = "none"
)

// RequirementsFile returns the requirements file of a script: the one that the form names, or else requirements.txt beside the script, or
// else the only file with that name. It returns false if there is none. The error is permanent: the form names a file that does not exist.
func RequirementsFile(values map[string]any, inputs []job.Input) (job.Input, bool, error) {
	wanted := text(values, "requirements_file")
	switch wanted {
	case ignore:
		return job.Input{}, false, nil
	case "":
		in, ok := beside(text(values, "script"), inputs)
		return in, ok, nil
	}
	if in, ok := find(wanted, inputs); ok {
		return in, true, nil
	}
	return job.Input{}, false, job.Permanent(fmt.Errorf("the dataset has no requirements file %q: write its name as the dataset shows it, "+
		"or leave the field empty", wanted))
}

// NameEntry returns the values of a form in which the script is named by its path instead of its id in Clowder, as the trainer needs it.
func NameEntry(values map[string]any, inputs []job.Input) map[string]any {
	wanted := text(values, "script")
	at := slices.IndexFunc(inputs, func(in job.Input) bool { return wanted != "" && in.ID == wanted })
	if at < 0 {
		return values
	}
	named := maps.Clone(values)
	named["script"] = inputs[at].Path
	return named
}

// beside finds requirements.txt by the place of the script, which may be unknown.
func beside(entry string, inputs []job.Input) (job.Input, bool) {
	places := []string{"."}
	if in, ok := find(entry, inputs); ok {
		places = []string{path.Dir(in.Name), "."}
	}
	for _, dir := range places {
		if at := slices.IndexFunc(inputs, func(in job.Input) bool { return in.Name == path.Join(dir, requirementsFile) }); at >= 0 {
			return inputs[at], true
		}
	}
	return find(requirementsFile, inputs)
}

// find returns the file with an id or a path in the dataset, or with a name that only one file has.
func find(wanted string, inputs []job.Input) (job.Input, bool) {
	wanted = strings.TrimPrefix(wanted, "./")
	var named []job.Input
	for _, in := range inputs {
		if wanted != "" && (in.ID == wanted || in.Name == wanted) {
			return in, true
		}
		if path.Base(in.Name) == wanted {
			named = append(named, in)
		}
	}
	if len(named) != 1 {
		return job.Input{}, false
	}
	return named[0], true
}
