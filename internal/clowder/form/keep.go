package form

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/options"
)

const (
	// maxUnknown limits the names of unknown parameters that are kept, and maxUnknownName their length in characters.
	maxUnknown     = 20
	maxUnknownName = 40
)

// Keep returns what a record needs of the parameters that a user sent. Its size is limited, and Parameters returns the same for it as
// for raw. Fields of the form keep their names and groups. Texts that are longer than any field allows are cut, and lists and objects
// become empty. Of unknown parameters only some names are kept, for the warnings. Keep does not change raw.
func (i *Info) Keep(raw map[string]any) map[string]any {
	raw = i.withoutFolders(raw)
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

// keeper counts the unknown names that are kept.
type keeper struct {
	info    *Info
	unknown int
}

// keep adds a value to out under name if the form has a field named full.
func (k *keeper) keep(out map[string]any, name, full string, value any) {
	at := slices.IndexFunc(k.info.form, func(f field) bool { return f.Name == full })
	switch {
	case at >= 0:
		out[name] = k.info.form[at].keep(value)
	case k.info.olderField(name) != nil:
		out[name] = k.info.olderField(name).keep(value)
	case k.unknown < maxUnknown:
		k.unknown++
		out[cut(options.WithoutSecrets(name), maxUnknownName)] = nil // no field has an ellipsis in its name
	}
}

// keep limits a value. A value that is too long stays too long, so that Parameters still refuses it.
func (f field) keep(value any) any {
	clean, limit := strings.TrimSpace, maxTextParameter
	switch {
	case len(f.Enum) > 0 || f.Type != "string":
	default:
		clean, limit = f.limits()
	}
	switch v := f.asText(value).(type) {
	case nil, bool, float64, int, int64:
		return v
	case json.Number:
		if len(v) <= maxTextParameter {
			return v
		}
		return cut(v.String(), limit)
	case string:
		if len(v) <= limit {
			return f.withoutSecrets(v)
		}
		return cut(clean(strings.TrimSpace(v)), limit)
	case []any:
		return []any{}
	default:
		return map[string]any{}
	}
}

// withoutSecrets hides the keys in a short text, which is kept as it was sent otherwise.
func (f field) withoutSecrets(s string) string {
	if slices.Contains(ofScript, f.Name) {
		return s
	}
	return options.WithoutSecrets(s)
}

// cut returns the first n characters of s and an ellipsis if it has more. The result has n+1 characters then, one too many on purpose.
func cut(s string, n int) string {
	for at := range s {
		if n == 0 {
			return s[:at] + "…"
		}
		n--
	}
	return s
}
