package message

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// StatusKind is one of the six kinds of status that both versions of Clowder understand.
type StatusKind string

// The kinds of status. Done, Error and Skip are terminal: Clowder v2 ignores all statuses of a job after the first of them, so Error
// is never sent for a failure that will be retried.
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

// Status is one line in the job view of Clowder.
type Status struct {
	Kind StatusKind
	// Text is a sentence for a scientist. EncodeStatus makes it safe for the parsers of both versions.
	Text string
	// At is the time of the status. Clowder shows it in whole seconds of UTC.
	At time.Time
	// Passing marks a line about the current activity: a newer status replaces it if it was not sent yet. Progress marks a passing line
	// of which there are very many.
	Passing, Progress bool
	// Note marks a remark about the run. Notes that wait one after the other are sent as one status, so that many notes at once do not
	// delay what comes after them.
	Note bool
}

// maxStatusText limits a text, in characters. The page shows the newest text in large letters.
const maxStatusText = 200

// maxNotesText limits several notes in one status, in characters. Each of them has at most maxStatusText.
const maxNotesText = 3 * maxStatusText

// maxEndText limits the text of a job that went well, in characters. The folder with the results stands at its end.
const maxEndText = 300

// statusTime is the layout that v2 parses with %Y-%m-%dT%H:%M:%S%z. v2 refuses fractions, and it ignores the offset and shows the digits
// as UTC, so times are always sent in UTC.
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

// InWordsOf returns the statuses that say s to the Clowder that sent req. v1 keeps no text of an end that went well, and a skip does not
// end a job there: both texts are said before a bare end.
func (s Status) InWordsOf(req job.Request) []Status {
	if req.APIVersion != 1 || s.Kind != StatusDone && s.Kind != StatusSkip {
		return []Status{s}
	}
	said, end := s, s
	said.Kind, end.Kind = StatusProcessing, StatusDone
	said.Note = s.Kind == StatusDone // it may be as long
	if s.Kind == StatusSkip {
		said.Text = "Skipped: " + s.Text
	}
	return []Status{said, end}
}

// EncodeStatus returns the message for req.ReplyTo and req.CorrelationID: pyclowder's JSON with a text that neither version of Clowder
// misreads. extractor is the registered name.
func EncodeStatus(req job.Request, extractor string, s Status) []byte {
	limit := maxStatusText
	switch {
	case s.Note:
		limit = maxNotesText
	case s.Kind == StatusDone:
		limit = maxEndText
	}
	text := safeText(s.Kind, s.Text, req.APIVersion, limit)
	kind := "StatusMessage." + string(s.Kind)
	// A struct of texts cannot fail to encode.
	body, _ := json.Marshal(statusBody{
		FileID: req.ResourceID, ExtractorID: extractor, JobID: req.JobID,
		Status: kind + ": " + text, Start: s.At.UTC().Format(statusTime), MessageType: kind, Message: text,
	})
	return body
}

var (
	// prefixWord matches what v2 removes everywhere in the text after its own prefix.
	prefixWord = regexp.MustCompile(`(STARTED|PROCESSING|SUCCEEDED|ERROR|RESUBMITTED|SKIPPED|StatusMessage\.[a-z]+): `)
	// v1 stores any status with these four letters as DONE. doneWord matches the word itself, doneInner a part of another word or of the
	// name of a file.
	doneWord  = regexp.MustCompile(`(?i)(^|\s)done([.,;:!?)]*(?:\s|$))`)
	doneInner = regexp.MustCompile(`(?i)(do)(ne)`)
)

// safeText makes a sentence one line of at most limit runes without anything that a parser of Clowder takes as a signal.
func safeText(kind StatusKind, sentence string, version, limit int) string {
	sentence = text.OneLine(sentence)
	if sentence == "" {
		sentence = emptyText(kind)
	}
	sentence = prefixWord.ReplaceAllString(sentence, "$1 - ")
	if version == 1 && kind != StatusDone {
		sentence = doneWord.ReplaceAllString(sentence, "${1}finished${2}")
		sentence = doneInner.ReplaceAllString(sentence, "${1}"+wordJoiner+"${2}")
	}
	sentence = text.Shorten(sentence, limit)
	// v2 tests for these two endings before it reads the prefix, so an error with such an ending would count as success.
	if kind != StatusStart && strings.HasSuffix(sentence, "Started processing.") ||
		kind != StatusDone && strings.HasSuffix(sentence, "Done processing.") {
		sentence = strings.TrimSuffix(sentence, ".")
	}
	return sentence
}

// wordJoiner is a character without width, which separates letters for a program and not for a reader.
const wordJoiner = "\u2060"

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
		return "The run will be retried."
	default:
		return "Working."
	}
}
