package clowder

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ncsa/clowder-ray/internal/clowder/jsonscan"
)

const (
	// maxAnswer is the largest answer that is read into memory, in bytes: a page of 100 files is about 100 kB, metadata can be more.
	maxAnswer = 16 << 20
	// maxAnswerValues is how many values an answer may hold that is decoded in one piece; one can take a hundred times its size.
	maxAnswerValues = 500_000
	// maxRows is how many rows a list may have that does not come in pages.
	maxRows = 50_000
	// maxRowBytes is how large a row of such a list may be that holds what users have put there, and maxRowValues how many values
	// all of them may hold together. Ours have some hundred each.
	maxRowBytes  = 256 << 10
	maxRowValues = 200_000
)

// decodeAnswer decodes what Clowder answered, which is at most maxAnswer bytes, without taking much more memory than that.
func decodeAnswer(body []byte, into any) error {
	if list, ok := into.(*rows); ok {
		return list.read(body)
	}
	if _, values := jsonscan.Measure(body); values > maxAnswerValues {
		return fmt.Errorf("it holds more than %d values", maxAnswerValues)
	}
	return json.Unmarshal(body, into)
}

// rows is a list whose members stay as they are written, because users choose what is in them. They are parts of the answer.
type rows []json.RawMessage

func (r *rows) read(body []byte) error {
	body = jsonscan.SkipBlanks(body)
	if !json.Valid(body) {
		return errors.New("it is not valid JSON")
	}
	if body[0] != '[' {
		return fmt.Errorf("it is %s and not a list", jsonscan.Kind(body))
	}
	for row := range jsonscan.Items(body) {
		if len(*r) == maxRows {
			return fmt.Errorf("it has more than %d rows", maxRows)
		}
		*r = append(*r, row)
	}
	return nil
}

// rowDecoder decodes rows of one list as long as they are not too much in all.
type rowDecoder struct{ values int }

// decode reports whether the row was decoded. Those of others may have any shape and size, and are left out.
func (d *rowDecoder) decode(row json.RawMessage, into any) bool {
	if len(row) > maxRowBytes {
		return false
	}
	_, values := jsonscan.Measure(row)
	if d.values += values; d.values > maxRowValues {
		d.values -= values
		return false
	}
	return json.Unmarshal(row, into) == nil
}
