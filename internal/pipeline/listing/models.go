package listing

import (
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Model describes a version of a model and its test score in one line.
func Model(v registry.Version, champion bool) string {
	line := v.Ref()
	if champion {
		line += ", the champion"
	}
	line += ": "
	metric := results.Stored(v.Metric, v.MetricTitle, v.MetricDirection, v.MetricUnit).Words()
	switch s := v.Test; {
	case s == nil:
		line += "without test rows"
	case s.Low != nil && s.High != nil:
		line += fmt.Sprintf("%s %.3f (%.3f to %.3f) on %s", metric, s.Value, *s.Low, *s.High, text.Count(s.N, "test row"))
	default:
		line += fmt.Sprintf("%s %.3f on %s", metric, s.Value, text.Count(s.N, "test row"))
	}
	return fmt.Sprintf("%s, %s from %s, made %s by run %s", line, v.Task, v.Base, v.Created.UTC().Format(minute), v.Run)
}

// Models counts versions and names the champions: "3 versions in this dataset; champion: reviews/2". champions maps the name of a model
// to its champion, empty for none.
func Models(versions []registry.Version, champions map[string]string) string {
	if len(versions) == 0 {
		return "This dataset has no such model"
	}
	line := tally(len(versions), "version") + newest(len(versions))
	var refs []string
	named := map[string]bool{}
	for _, v := range versions {
		if ref := champions[v.Name]; ref != "" && !named[v.Name] {
			refs = append(refs, ref)
			named[v.Name] = true
		}
	}
	switch len(refs) {
	case 0:
		return line + "; no champion"
	case 1:
		return line + "; champion: " + refs[0]
	default:
		return line + "; champions: " + strings.Join(refs, ", ")
	}
}
