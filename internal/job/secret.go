package job

import "go.uber.org/zap/zapcore"

// redacted is what every way of printing a Secret shows.
const redacted = "***"

// Secret is a text that must never be printed: a user's Clowder key, a Ray token. Every way of formatting, marshalling
// or logging it shows three asterisks; only Reveal hands out the text.
type Secret string

var _ zapcore.ObjectMarshaler = Secret("")

// Reveal returns the text, for the one place that sends it to the service it belongs to.
func (s Secret) Reveal() string { return string(s) }

// String hides the text.
func (Secret) String() string { return redacted }

// GoString hides the text from %#v.
func (Secret) GoString() string { return redacted }

// MarshalText hides the text from encoding/json and every other text encoder.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalLogObject hides the text from zap's reflecting encoders.
func (Secret) MarshalLogObject(e zapcore.ObjectEncoder) error {
	e.AddString("secret", redacted)
	return nil
}
