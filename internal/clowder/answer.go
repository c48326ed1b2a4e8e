package clowder

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ncsa/clowder-ray/internal/clowder/jsonscan"
)

const (
	// maxAnswer is the size in bytes of the largest answer that is read. A page of 100 files has about 100 kB, metadata can have more.
	maxAnswer = 16 << 20
	// maxAnswerValues limits the values of an answer that is decoded at once. A decoded value can take a hundred times its size.
	maxAnswerValues = 500_000
	// maxRows limits the rows of a list that has no pages.
	maxRows = 50_000
	// maxRowBytes limits the size of one row of such a list, and maxRowValues the values of all its rows. Users choose the content of
	// the rows. The rows of this service have a few hundred values each.
	maxRowBytes  = 256 << 10
	maxRowValues = 200_000
)

// decodeAnswer decodes an answer of at most maxAnswer bytes. It takes little more memory than that.
func decodeAnswer(body []byte, into any) error {
	if list, ok := into.(*rows); ok {
		return list.read(body)
	}
	if _, values := jsonscan.Measure(body); values > maxAnswerValues {
		return fmt.Errorf("it holds more than %d values", maxAnswerValues)
	}
	return json.Unmarshal(body, into)
}

// rows is a list with undecoded members, because users choose their content. The members share the memory of the answer.
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

// rowDecoder decodes rows of one list until the sum of their values is too large.
type rowDecoder struct{ values int }

// decode reports whether the row was decoded. Rows of other programs may have any shape and size; they are skipped.
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
