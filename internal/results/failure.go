package results

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/text"
)

// failureVersion is the version of error.json that this program reads.
const failureVersion = 1

// Failure is error.json: why a run ended without a result.
type Failure struct {
	Schema  int    `json:"schema" enum:"1"`
	Run     string `json:"run" minLength:"1"`
	Attempt int    `json:"attempt" minimum:"1"`
	Code    string `json:"code" pattern:"^[a-z_]+$"`
	// What is wrong, why that is so, and what to do: one sentence each.
	What string `json:"what" minLength:"1"`
	Why  string `json:"why,omitempty"`
	Do   string `json:"do" minLength:"1"`
	// User says that the same input fails again and a person must change something.
	User bool `json:"user"`
}

// MaxSentence bounds what a user reads as one status line, in characters.
const MaxSentence = 600

// Sentence is the failure as one line for the user: what is wrong, why, and what to do.
func (f *Failure) Sentence() string {
	var parts []string
	for _, s := range []string{f.What, f.Why, f.Do} {
		s = strings.TrimRight(text.OneLine(s), ". ")
		if s != "" && !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
	}
	return text.Shorten(strings.Join(parts, ". "), MaxSentence)
}

// DecodeFailure reads error.json and checks it against its contract.
func DecodeFailure(doc []byte) (*Failure, error) {
	var f Failure
	if err := json.Unmarshal(doc, &f); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	if f.Schema != failureVersion {
		return nil, fmt.Errorf("schema %d is not known", f.Schema)
	}
	if err := validate(failureSchema, f); err != nil {
		return nil, err
	}
	return &f, nil
}
