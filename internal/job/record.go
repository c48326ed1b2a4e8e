package job

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/options"
)

// Record is all that the service remembers of one job. It is changed only through Store.Change, whose function gets a
// copy and may use the methods below; they are the only ways in which a state moves.
type Record struct {
	// Run is the job's one name: record, run folder, Ray submission id (with the attempt) and label.
	Run string `json:"run"`
	// Kind says what the job does. Records of older versions have none; the store adds it when it reads them.
	Kind    Work    `json:"kind,omitempty"`
	Request Request `json:"request"`
	// SecretKey is the user's Clowder key. It is stored beside the record, never in its JSON, and erased at the end.
	SecretKey Secret `json:"-"`
	// Owner stands for the user who asked, for fairness between users: a digest of the key, which is the same for all jobs of
	// a user. It stays when the key is erased.
	Owner string `json:"owner,omitempty"`
	// User is the e-mail address of the user who asked, as Clowder tells it. It is known where people see runs in the studio or get e-mails; it
	// is empty otherwise, and in records of older versions.
	User  string `json:"user,omitempty"`
	State State  `json:"state"`
	// SentBy is who sent the message of a job about a single file. It is empty before that is known, for all other jobs, and in records of
	// older versions.
	SentBy Sender `json:"sent_by,omitempty"`
	// Likeness is the same for two jobs about one file from which the same comes: those of one user with equal settings and content. Jobs
	// about datasets have none, and neither have records of older versions.
	Likeness string `json:"likeness,omitempty"`
	// Attempt numbers the tries on Ray, from 1. Restarts counts those that followed a broken one by themselves.
	Attempt  int `json:"attempt"`
	Restarts int `json:"restarts,omitempty"`
	// Failures counts the errors met in the present state; NotBefore is when it may be tried again.
	Failures  int       `json:"failures,omitempty"`
	NotBefore time.Time `json:"not_before,omitzero"`
	// Settings are the checked parameters of the user, with every field of the form present, and what the service reads of Resolved.
	Settings Settings `json:"settings,omitzero"`
	// Resolved are the options of the job from all its sources, nil before its files are staged and in records of older versions.
	Resolved *options.Resolved `json:"resolved,omitempty"`
	// InputsSHA256 is of the list of the staged files as the service wrote it; empty before that, and in records of older versions.
	InputsSHA256 string `json:"inputs_sha256,omitempty"`
	// NotRead are files of the dataset that were not staged although they are data, such as those that were still being uploaded.
	NotRead []NotRead `json:"not_read,omitempty"`
	// SettingsFile is the file of the dataset that a training takes options from, nil for none and in records of older versions.
	SettingsFile *SettingsFile `json:"settings_file,omitempty"`
	// Model is what the registry says of the job's model: of the one that it predicts with, or of the one that it made.
	Model json.RawMessage `json:"model,omitempty"`
	// Script is the object "script" of spec.json, for a script of a user: what it may do and the packages that are installed for it.
	Script json.RawMessage `json:"script,omitempty"`
	// Handle is the handle of the present attempt, nil before its submission. Stale is the handle of an attempt that must be released
	// before the next one is submitted.
	Handle *Handle `json:"handle,omitempty"`
	Stale  *Handle `json:"stale,omitempty"`
	// Ledger is what was delivered so far; the platform alone reads it.
	Ledger json.RawMessage `json:"ledger,omitempty"`
	// Began is when the present attempt was submitted and Trained when Ray last began to run it. Requeued is when a running attempt lost
	// its machines to another job and began to wait again; it is zero while the attempt runs.
	Began    time.Time `json:"began,omitzero"`
	Trained  time.Time `json:"trained,omitzero"`
	Requeued time.Time `json:"requeued,omitzero"`
	// StartSent is set once the first status is confirmed, Ending once the end is decided.
	StartSent bool    `json:"greeted,omitempty"`
	Ending    *Ending `json:"ending,omitempty"`
	// CancelledBy names who asked for the end of the job, StoppedBy who asked its training to end early and to keep what it
	// has. Both are empty while nobody did.
	CancelledBy string `json:"cancelled_by,omitempty"`
	StoppedBy   string `json:"stopped_by,omitempty"`
	// Target is the run that this job is about, where it is a request about another one.
	Target string `json:"target,omitempty"`
	// Trimmed says that the parameters are gone because they were too large, so that the job cannot be retried.
	Trimmed bool `json:"trimmed,omitempty"`
	// LastError is the newest error in plain words, for listings.
	LastError string    `json:"last_error,omitempty"`
	Created   time.Time `json:"created"`
	Updated   time.Time `json:"updated"`
	// Version counts the changes; the store compares it before it writes.
	Version int64 `json:"-"`
}

// Ending is the decided end of a job: the terminal state that follows and the sentence that the user reads.
type Ending struct {
	State State  `json:"state"`
	Text  string `json:"text"`
	// BadInput says that the user's data or settings must change; otherwise the same job may work another time.
	BadInput bool `json:"bad_input,omitempty"`
}

// New returns the record of a request that was just received; run is its name.
func New(run string, kind Work, request Request, key Secret) Record {
	return Record{Run: run, Kind: kind, Request: request, SecretKey: key, Owner: ownerOf(key), State: Accepted, Attempt: 1}
}

// ownerOf is the same for all jobs of a user, since Clowder sends the same key with each of them, and does not tell the key.
func ownerOf(key Secret) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("clowder-ray owner\x00" + key.Reveal()))
	return hex.EncodeToString(sum[:8])
}

// Resolve takes over what counts of all sources of the options.
func (r *Record) Resolve(resolved options.Resolved) {
	r.Resolved, r.Settings = &resolved, r.Settings.Resolved(r.Kind, resolved)
}

// Advance moves the job on to state and forgets the failures met before it.
func (r *Record) Advance(state State) {
	r.State, r.Failures, r.NotBefore, r.LastError = state, 0, time.Time{}, ""
}

// End decides the end of the job. The first decision stands: a job that is already ending is left as it is.
func (r *Record) End(state State, text string) {
	if r.Ending == nil && !r.State.Terminal() {
		r.Ending = &Ending{State: state, Text: cut(text)}
		r.Failures, r.NotBefore = 0, time.Time{}
	}
}

// Close makes the decided end the state of the job. The key is erased, except from a failed job, which may be retried.
func (r *Record) Close() error {
	if r.Ending == nil {
		return fmt.Errorf("job %s: no end is decided", r.Run)
	}
	r.Advance(r.Ending.State)
	if r.State != Failed {
		r.SecretKey = ""
	}
	return nil
}

// Postpone remembers an error and when to try again.
func (r *Record) Postpone(until time.Time, reason string) {
	r.Failures++
	r.NotBefore, r.LastError = until, cut(reason)
}

// maxSentence bounds the sentences in a record, in bytes. Some repeat what another service answered.
const maxSentence = 8 << 10

// cut shortens a sentence that no record should hold whole.
func cut(text string) string {
	if len(text) <= maxSentence {
		return text
	}
	return strings.ToValidUTF8(text[:maxSentence], "") + "…"
}

// NextAttempt begins another try on Ray with the inputs that are already staged.
func (r *Record) NextAttempt() {
	r.Attempt++
	r.Restarts++
	r.State, r.Stale, r.Handle = Staged, r.Handle, nil
	r.Began, r.Trained, r.Requeued = time.Time{}, time.Time{}, time.Time{}
}

// Overlay is the folder of the packages that are installed for the script of the job, relative to the shared volume; empty for none.
func (r *Record) Overlay() string {
	var script struct {
		Overlay string `json:"overlay"`
	}
	_ = json.Unmarshal(r.Script, &script) // what is no object names none
	return script.Overlay
}

// ModelName is the name under which the model of a training will be registered.
func (r *Record) ModelName() string { return cmp.Or(r.Settings.RegisterAs, r.Request.Name) }

// Active reports whether the service still has something to do for the job.
func (r *Record) Active() bool { return !r.State.Terminal() }

// Standing says for a page whether it shows the job as it is: another state, attempt, command of a person or end is another text.
func (r *Record) Standing() string {
	return fmt.Sprintf("%s %d %t %t %t", r.State, r.Attempt, r.StoppedBy != "", r.CancelledBy != "", r.Ending != nil)
}
