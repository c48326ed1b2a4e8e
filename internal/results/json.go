package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// WriteJSON writes v for people and programs: indented, keys of maps in order, no escaped angle brackets.
func WriteJSON(w io.Writer, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	_, err := w.Write(buf.Bytes())
	return err
}
