package message

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// StatusKind is one of the six words that both versions of Clowder understand.
type StatusKind string

// The kinds of status. Done, Error and Skip are terminal: Clowder v2 freezes a job at the first of them, so Error is never
// sent for something that will be tried again.
const (
	StatusStart      StatusKind = "start"
	StatusProcessing StatusKind = "processing"
	StatusDone       StatusKind = "done"
	StatusError      StatusKind = "error"
	StatusRetry      StatusKind = "retry"
	StatusSkip       StatusKind = "skip"
)

// Terminal reports whether nothing may follow a status of this kind.
func (k StatusKind) Terminal() bool {
	return k == StatusDone || k == StatusError || k == StatusSkip
}

// Status is one line for the job view of Clowder.
type Status struct {
	Kind StatusKind
	// Text is a sentence for a scientist; EncodeStatus makes it safe for both parsers.
	Text string
	// At is when it was so; Clowder shows it in whole seconds of UTC.
	At time.Time
	// Passing marks a line that says what is being done at this moment: any newer one replaces it as long as it was not sent.
	// Progress marks one of very many of that sort.
	Passing, Progress bool
}

// maxStatusText is the most runes of a text. The page shows the newest one large; a longer one is a paragraph.
const maxStatusText = 200

// statusTime is what v2 parses with %Y-%m-%dT%H:%M:%S%z. It refuses fractions, and it drops the offset and shows the digits
// as UTC, so only UTC is ever sent.
const statusTime = "2006-01-02T15:04:05+00:00"

// statusBody is pyclowder's message. v1 needs file_id, extractor_id, status and start; v2 needs job_id, status and start.
type statusBody struct {
	FileID      string `json:"file_id"`
	ExtractorID string `json:"extractor_id"`
	JobID       string `json:"job_id,omitempty"`
	Status      string `json:"status"`
	Start       string `json:"start"`
	MessageType string `json:"message_type"`
	Message     string `json:"message"`
}

// EncodeStatus returns the message that goes to req.ReplyTo with req.CorrelationID: pyclowder's JSON with a text that
// neither version of Clowder misreads. extractor is the registered name.
func EncodeStatus(req job.Request, extractor string, s Status) []byte {
	text := safeText(s.Kind, s.Text, req.APIVersion)
	kind := "StatusMessage." + string(s.Kind)
	// A struct of texts cannot fail to encode.
	body, _ := json.Marshal(statusBody{
		FileID: req.ResourceID, ExtractorID: extractor, JobID: req.JobID,
		Status: kind + ": " + text, Start: s.At.UTC().Format(statusTime), MessageType: kind, Message: text,
	})
	return body
}

var (
	// prefixWord is what v2 removes everywhere in the text that follows its own prefix.
	prefixWord = regexp.MustCompile(`(STARTED|PROCESSING|SUCCEEDED|ERROR|RESUBMITTED|SKIPPED|StatusMessage\.[a-z]+): `)
	// doneWord is what makes v1 store any status as DONE.
	doneWord  = regexp.MustCompile(`(?i)\bdone\b`)
	doneInner = regexp.MustCompile(`(?i)(do)(ne)`)
)

// safeText makes a sentence one line of at most maxStatusText runes without anything that a parser of Clowder takes as a signal.
func safeText(kind StatusKind, sentence string, version int) string {
	sentence = text.OneLine(sentence)
	if sentence == "" {
		sentence = emptyText(kind)
	}
	sentence = prefixWord.ReplaceAllString(sentence, "$1 - ")
	if version == 1 && kind != StatusDone {
		sentence = doneWord.ReplaceAllString(sentence, "finished")
		sentence = doneInner.ReplaceAllString(sentence, "$1-$2")
	}
	sentence = text.Shorten(sentence, maxStatusText)
	// v2 tests these two endings before it looks at the prefix, so an error that ends so would count as success.
	if kind != StatusStart && strings.HasSuffix(sentence, "Started processing.") ||
		kind != StatusDone && strings.HasSuffix(sentence, "Done processing.") {
		sentence = strings.TrimSuffix(sentence, ".")
	}
	return sentence
}

func emptyText(kind StatusKind) string {
	switch kind {
	case StatusStart:
		return "Started processing."
	case StatusDone:
		return "Done processing."
	case StatusError:
		return "The run failed."
	case StatusSkip:
		return "Nothing to do."
	case StatusRetry:
		return "Will be tried again."
	default:
		return "Working."
	}
}
