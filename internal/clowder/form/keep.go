package form

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// maxUnknown is how many names of parameters that the form does not have are kept, and maxUnknownName how long each may be,
	// in runes.
	maxUnknown     = 20
	maxUnknownName = 40
)

// Keep returns what a record needs of the parameters that a user sent, bounded whatever they sent: Parameters says the same of
// both. Fields of the form stay under the name under which they came, groups as groups, with texts cut where they are longer
// than any field takes; an empty list or object stands for one that has content. Of what the form does not have only some names
// stay, without their values, for the warnings. raw itself stays as it is.
func (i *Info) Keep(raw map[string]any) map[string]any {
	k := keeper{info: i}
	kept := make(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		inner, ok := raw[name].(map[string]any)
		if !ok || !i.has(func(f field) bool { return strings.HasPrefix(f.Name, name+".") }) {
			k.keep(kept, name, i.fullName(name), raw[name])
			continue
		}
		group := make(map[string]any)
		for _, member := range slices.Sorted(maps.Keys(inner)) {
			k.keep(group, member, name+"."+member, inner[member])
		}
		kept[name] = group
	}
	return kept
}

// keeper counts the unknown names.
type keeper struct {
	info    *Info
	unknown int
}

// keep puts a value under name into out, where it is of the field that is called full.
func (k *keeper) keep(out map[string]any, name, full string, value any) {
	at := slices.IndexFunc(k.info.form, func(f field) bool { return f.Name == full })
	switch {
	case at >= 0:
		out[name] = k.info.form[at].keep(value)
	case k.unknown < maxUnknown:
		k.unknown++
		out[cut(name, maxUnknownName)] = nil // no field has an ellipsis in its name
	}
}

// keep bounds a value. What is too long stays too long, so that it is still refused.
func (f field) keep(value any) any {
	clean, limit := strings.TrimSpace, maxTextParameter
	switch {
	case len(f.Enum) > 0 || f.Type != "string":
	case f.Format == textArea:
		clean, limit = text.Lines, maxTextArea
	default:
		clean = text.OneLine
	}
	switch v := value.(type) {
	case nil, bool, float64, int, int64:
		return v
	case json.Number:
		if len(v) <= maxTextParameter {
			return v
		}
		return cut(v.String(), limit)
	case string:
		if len(v) <= limit {
			return v
		}
		return cut(clean(strings.TrimSpace(v)), limit)
	case []any:
		return []any{}
	default:
		return map[string]any{}
	}
}

// cut returns the first n runes of text and an ellipsis where it has more: one rune more than n.
func cut(text string, n int) string {
	for at := range text {
		if n == 0 {
			return text[:at] + "…"
		}
		n--
	}
	return text
}
