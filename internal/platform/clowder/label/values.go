package label

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/text"
)

// labelIn returns the label under a key, and the version of the file that it describes. The key is the name of a member, or names of nested
// members with points between them. notes are in the order of clowder.SortNotes, so the newest version that has a label counts.
func labelIn(notes []clowder.Note, key string) (label string, version int) {
	label, note := In(notes, key)
	return label, note.Version
}

// In returns the label under a key of the metadata of a file, and the entry that it is from; empty for none. notes are in the order of
// clowder.SortNotes.
func In(notes []clowder.Note, key string) (label string, from clowder.Note) {
	for _, note := range notes {
		if label := labelOf(memberOf(note.Content, key)); label != "" {
			return label, note
		}
	}
	return "", clowder.Note{}
}

// memberOf returns the member that a key names: exactly, or by nested names, or without regard to case, blanks and the address in front of
// the name where one member alone fits. Vocabularies give keys such as http://purl.org/dc/terms/species.
func memberOf(content map[string]any, key string) any {
	if value, ok := content[key]; ok {
		return value
	}
	name, rest, nested := strings.Cut(key, ".")
	if inner, ok := content[name].(map[string]any); ok && nested {
		return memberOf(inner, rest)
	}
	var similar []string
	plain := plainName(key)
	for member := range content {
		if plainName(member) == plain {
			similar = append(similar, member)
		}
	}
	if len(similar) != 1 {
		return nil
	}
	return content[similar[0]]
}

var withoutMarks = strings.NewReplacer(" ", "", "_", "", "-", "")

// plainName is the name of a member without case, blanks, underscores, hyphens and the address in front of it.
func plainName(name string) string {
	if strings.Contains(name, "://") {
		name = name[strings.LastIndexAny(name, "/#")+1:]
	}
	return strings.ToLower(withoutMarks.Replace(name))
}

// labelOf is a value as a label: a text, a number, true or false, an object with a label, or a list of these. Anything else is none.
func labelOf(value any) string {
	switch v := value.(type) {
	case string:
		if v = text.OneLine(v); len(v) <= maxLabel {
			return v
		}
		return ""
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case map[string]any:
		return labelOf(v["label"])
	case []any:
		return labelOfList(v)
	default:
		return ""
	}
}

// labelOfList returns the label with the highest score where each member has a score, as classifiers write them; else the labels of all
// members, joined as a set of labels is in a table.
func labelOfList(members []any) string {
	var labels []string
	best, highest, scores := "", 0.0, 0
	for _, member := range members {
		label := ""
		if _, list := member.([]any); !list {
			label = labelOf(member)
		}
		if label == "" {
			return "" // a part of a set of labels would be a wrong label
		}
		if object, ok := member.(map[string]any); ok {
			if score, ok := object["score"].(float64); ok {
				if scores++; best == "" || score > highest {
					best, highest = label, score
				}
			}
		}
		if !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	if scores == len(members) {
		return best
	}
	if joined := strings.Join(labels, ";"); len(joined) <= maxLabel {
		return joined
	}
	return ""
}
