package explain

import (
	"strings"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// Diagnosis says what is wrong in words for a scientist who does not know Kubernetes.
type Diagnosis struct {
	// Cause says what happened, e.g. "no node has 1 GPU free". An empty cause means that nothing is wrong.
	Cause string
	// Remedy says what to do, e.g. "choose a profile with more memory". It is empty where waiting is enough.
	Remedy string
}

// askAdministrator begins every remedy that a user cannot apply.
const askAdministrator = "ask the administrator of the extractor"

const (
	// maxDetail is the longest foreign text within a sentence, in characters.
	maxDetail = 100
	// maxSubject is the space reserved for the pods that a diagnosis is about, in characters.
	maxSubject = 100
)

// String joins the cause and the remedy. A long cause is cut; the remedy never is.
func (d Diagnosis) String() string {
	if d.Remedy == "" {
		return d.Cause
	}
	return rayjob.OneLine(d.Cause, rayjob.MaxReason-maxSubject-len("; "+d.Remedy)) + "; " + d.Remedy
}

// detail makes foreign text fit for the middle of a sentence.
func detail(text string) string { return rayjob.OneLine(text, maxDetail) }

// inParentheses puts foreign text behind what it explains. It returns "" for an empty text.
func inParentheses(text string) string {
	if text = detail(text); text == "" {
		return ""
	}
	return " (" + text + ")"
}

// reported is what Kubernetes says in its own words: a reason, and a message where there is one.
func reported(reason, message string) string {
	return inParentheses(strings.TrimSuffix(strings.TrimSpace(reason+": "+message), ":"))
}

// lastCause returns the end of a chain of errors, which says what went wrong.
func lastCause(message string) string {
	message = strings.TrimSpace(message)
	return message[strings.LastIndex(message, ": ")+1:]
}
