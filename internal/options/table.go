package options

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/ncsa/clowder-ray/trainer/contract"
)

// The types of options.
const (
	String  = "string"
	Boolean = "boolean"
	Integer = "integer"
	Number  = "number"
)

// Option is one option of a run. A field of a form is one, too.
type Option struct {
	Name string `json:"name"`
	// Group is its section in a settings file; the name is unique without it.
	Group string `json:"group"`
	// Type is string, boolean, integer or number.
	Type string `json:"type"`
	// Default is a string, bool, int64 or float64.
	Default any      `json:"default"`
	Choices []string `json:"enum,omitempty"`
	Minimum *float64 `json:"minimum,omitempty"`
	Maximum *float64 `json:"maximum,omitempty"`
	Help    string   `json:"description"`

	// Service says that the service acts on the option itself.
	Service bool `json:"-"`
}

// Table are the options of a kind of run.
type Table struct {
	all    []Option
	byName map[string]*Option
}

// All are the options in their order. The caller does not change them.
func (t Table) All() []Option { return t.all }

// Named returns the option of a name without its group, or nil.
func (t Table) Named(name string) *Option { return t.byName[name] }

// Names are the names of all options, without their groups.
func (t Table) Names() []string {
	names := make([]string, len(t.all))
	for i, o := range t.all {
		names[i] = o.Name
	}
	return names
}

// of reads the table once: it never changes.
var of = sync.OnceValue(func() (all struct {
	files []string
	runs  map[string]Table
},
) {
	var document map[string]json.RawMessage
	must(json.Unmarshal(contract.Options, &document))
	all.runs = map[string]Table{}
	for name, raw := range document {
		if name == "settings_files" {
			must(json.Unmarshal(raw, &all.files))
			continue
		}
		var rows []struct {
			Option
			Acts bool `json:"service"`
		}
		must(json.Unmarshal(raw, &rows))
		t := Table{byName: map[string]*Option{}}
		for _, row := range rows {
			row.Service = row.Acts
			if whole, ok := row.Default.(float64); ok && row.Type == Integer {
				row.Default = int64(whole)
			}
			t.all = append(t.all, row.Option)
		}
		for i := range t.all {
			t.byName[t.all[i].Name] = &t.all[i]
		}
		all.runs[name] = t
	}
	return all
})

// must ends the program for a table that is not one: it is built in, and held by a test.
func must(err error) {
	if err != nil {
		panic("trainer/contract/options.json: " + err.Error())
	}
}

// Of are the options of a kind of run: train, predict or script. Other kinds have none.
func Of(kind string) Table { return of().runs[kind] }

// IsSettings reports whether a file of a dataset, named with its folders, holds settings instead of data.
func IsSettings(name string) bool {
	return slices.Contains(of().files, strings.ToLower(path.Base(name)))
}

// Better reports whether the settings file a counts where b is in the dataset, too: the one nearest to the top does.
func Better(a, b string) bool {
	if above, below := strings.Count(a, "/"), strings.Count(b, "/"); above != below {
		return above < below
	}
	return a < b
}
