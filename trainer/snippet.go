package trainer

import (
	"regexp"
	"strings"
)

// Snippet is how to use a model in a few lines of Python beside the folder that its archive holds. It belongs to a kind and is a part of
// this program: a training only names one, so it cannot put code of its own before a user.
type Snippet struct {
	// Needs are the packages that the lines import. Holds says in words what the folder has.
	Needs []string
	Holds string
	Code  string
}

// snippetName matches what a result calls a snippet: the kind and the file.
var snippetName = regexp.MustCompile(`^[a-z_]{1,40}/[a-z_]{1,40}$`)

// The comments at the beginning of a snippet.
const (
	needsComment = "# needs: "
	holdsComment = "# holds: "
)

// NamedSnippet returns the snippet with that name, such as text/words. ok is false if there is none.
func NamedSnippet(name string) (s Snippet, ok bool) {
	if !snippetName.MatchString(name) {
		return Snippet{}, false
	}
	kind, file, _ := strings.Cut(name, "/")
	doc, err := program.ReadFile("kinds/" + kind + "/snippets/" + file + ".py")
	if err != nil {
		return Snippet{}, false
	}
	code := string(doc)
	for line, rest, more := strings.Cut(code, "\n"); more; line, rest, more = strings.Cut(code, "\n") {
		needs, isNeeds := strings.CutPrefix(line, needsComment)
		holds, isHolds := strings.CutPrefix(line, holdsComment)
		switch {
		case isNeeds:
			s.Needs = strings.Split(needs, ", ")
		case isHolds:
			s.Holds = holds
		default:
			s.Code = code
			return s, true
		}
		code = rest
	}
	s.Code = code
	return s, true
}
