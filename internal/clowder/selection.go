package clowder

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Holder is what holds the datasets of a Selection.
type Holder string

// The holders. Clowder v1 has collections and spaces, Clowder v2 has searches and feeds; a single dataset holds itself.
const (
	OneDataset Holder = "dataset"
	Collection Holder = "collection"
	Space      Holder = "space"
	Search     Holder = "search"
	Feed       Holder = "feed"
)

// Selection names datasets by what holds them: the id of it, or the words of a search.
type Selection struct {
	Holder Holder
	Value  string
}

// Ref is a dataset of a selection. The name is empty where Clowder does not tell it in its list.
type Ref struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
}

// maxSelections is how many parts a list of datasets may have.
const maxSelections = 10_000

// ParseSelections reads a list of datasets as users write it: ids and addresses of datasets, and collection:, space: and feed: with an id, or
// search: with words. Commas, semicolons and line breaks separate the parts. The error is permanent and for the user.
func ParseSelections(list string) ([]Selection, error) {
	var out []Selection
	for part := range strings.FieldsFuncSeq(list, func(r rune) bool { return strings.ContainsRune(",;\n\r", r) }) {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		one, ok := parseSelection(part)
		if !ok {
			return nil, job.Permanent(fmt.Errorf("data.datasets has the part %q: write ids or addresses of datasets, collection:ID or space:ID (Clowder v1), search:WORDS or feed:ID (Clowder v2), separated by commas",
				text.Excerpt(part, 80)))
		}
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
		if len(out) > maxSelections {
			return nil, job.Permanent(fmt.Errorf("data.datasets has more than %d parts: put the datasets into a collection, or search for them", maxSelections))
		}
	}
	return out, nil
}

func parseSelection(part string) (Selection, bool) {
	if strings.HasPrefix(part, "http://") || strings.HasPrefix(part, "https://") {
		return ofAddress(part)
	}
	holder, value, ok := strings.Cut(part, ":")
	if !ok {
		return Selection{OneDataset, part}, message.ValidID(part)
	}
	one := Selection{Holder(strings.ToLower(strings.TrimSpace(holder))), strings.TrimSpace(value)}
	switch one.Holder {
	case Search:
		return one, one.Value != ""
	case OneDataset, Collection, Space, Feed:
		return one, message.ValidID(one.Value)
	default:
		return one, false
	}
}

// ofAddress reads the address of a page of Clowder: the last two parts of its path are what it shows, in one number or the other, and the id.
func ofAddress(address string) (Selection, bool) {
	u, err := url.Parse(address)
	if err != nil {
		return Selection{}, false
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if len(parts) < 2 || !message.ValidID(parts[len(parts)-1]) {
		return Selection{}, false
	}
	one := Selection{Holder(strings.TrimSuffix(parts[len(parts)-2], "s")), parts[len(parts)-1]}
	return one, slices.Contains([]Holder{OneDataset, Collection, Space, Feed}, one.Holder)
}

// NoSuchHolder is the error about a selection that a version of Clowder does not have. instead says what it has.
func NoSuchHolder(one Selection, instead string) error {
	return job.Permanent(fmt.Errorf("data.datasets has %s:%s, which this version of Clowder does not have: use %s", one.Holder, text.Excerpt(one.Value, 60), instead))
}

// AddRef adds a dataset that is not in refs yet. More datasets than a job may have files are a permanent error.
func (c Config) AddRef(refs []Ref, seen map[string]bool, ref Ref) ([]Ref, error) {
	if seen[ref.ID] {
		return refs, nil
	}
	if len(refs) >= c.MaxFiles {
		return refs, job.Permanent(fmt.Errorf("data.datasets names more than %s, which is the limit of this service: name fewer, or ask the administrator to raise MAX_FILES", text.Count(c.MaxFiles, "dataset")))
	}
	seen[ref.ID] = true
	return append(refs, ref), nil
}
