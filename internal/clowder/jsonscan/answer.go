package jsonscan

import (
	"encoding/json"
	"errors"
	"fmt"
)

// The limits of an answer.
const (
	// MaxAnswer is the size in bytes of the largest answer that is read. A page of 100 files has about 100 kB, metadata can have more.
	MaxAnswer = 16 << 20
	// maxAnswerValues limits the values of an answer that is decoded at once. A decoded value can take a hundred times its size.
	maxAnswerValues = 500_000
	// maxRows limits the rows of a list that has no pages.
	maxRows = 50_000
	// MaxRowBytes limits the size of one row of such a list, and MaxRowValues the values of all its rows. Users choose the content of
	// the rows. The rows of this service have a few hundred values each.
	MaxRowBytes  = 256 << 10
	MaxRowValues = 200_000
)

// DecodeAnswer decodes an answer of at most MaxAnswer bytes. It takes little more memory than that.
func DecodeAnswer(body []byte, into any) error {
	if list, ok := into.(*Rows); ok {
		return list.read(body)
	}
	if _, values := Measure(body); values > maxAnswerValues {
		return fmt.Errorf("it holds more than %d values", maxAnswerValues)
	}
	return json.Unmarshal(body, into)
}

// Rows is a list with undecoded members, because users choose their content. The members share the memory of the answer.
type Rows []json.RawMessage

func (r *Rows) read(body []byte) error {
	body = SkipBlanks(body)
	if !json.Valid(body) {
		return errors.New("it is not valid JSON")
	}
	if body[0] != '[' {
		return fmt.Errorf("it is %s and not a list", Kind(body))
	}
	for row := range Items(body) {
		if len(*r) == maxRows {
			return fmt.Errorf("it has more than %d rows", maxRows)
		}
		*r = append(*r, row)
	}
	return nil
}

// RowDecoder decodes rows of one list until the sum of their values is too large.
type RowDecoder struct{ values int }

// Decode reports whether the row was decoded. Rows of other programs may have any shape and size; they are skipped.
func (d *RowDecoder) Decode(row json.RawMessage, into any) bool {
	if len(row) > MaxRowBytes {
		return false
	}
	_, values := Measure(row)
	if d.values += values; d.values > MaxRowValues {
		d.values -= values
		return false
	}
	return json.Unmarshal(row, into) == nil
}
