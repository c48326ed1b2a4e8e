package models

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/answer"
	"github.com/ncsa/clowder-ray/internal/text"
)

// mostPossible is how many possible classes are named in words.
const mostPossible = 10

// intervals puts the interval of each number into its row, where there are intervals.
func intervals(low, high answer.Tensor, rows []AnsweredRow) error {
	if low.Data == nil && high.Data == nil {
		return nil
	}
	for i := range rows {
		from, ok1 := at[float64](low.Data, i)
		to, ok2 := at[float64](high.Data, i)
		if !ok1 || !ok2 {
			return errors.New("the answer process sent no interval")
		}
		rows[i].Low, rows[i].High = &from, &to
		rows[i].Within = fmt.Sprintf("%s to %s%s", text.Significant(from), text.Significant(to), promised(low, " (%s interval)"))
	}
	return nil
}

// within puts the interval of one of several values into words beside it: low and high say of which, and what they promise.
func within(low, high answer.Tensor, rows []AnsweredRow) error {
	spans := make([]AnsweredRow, len(rows))
	if err := intervals(low, high, spans); err != nil {
		return err
	}
	for i := range rows {
		for j := range rows[i].Values {
			if rows[i].Values[j].Name == low.Parameters["of"] {
				rows[i].Low, rows[i].High = spans[i].Low, spans[i].High
				rows[i].Values[j].Text += ", " + spans[i].Within
			}
		}
	}
	return nil
}

// apart separates the tensors of an interval around one of the outputs, or around shares, from the outputs.
func apart(outputs []answer.Tensor) (others []answer.Tensor, low, high answer.Tensor) {
	for _, o := range outputs {
		switch {
		case o.Name == "low" && o.Parameters["of"] != nil:
			low = o
		case o.Name == "high" && o.Parameters["of"] != nil:
			high = o
		default:
			others = append(others, o)
		}
	}
	return others, low, high
}

// possible puts the classes or labels that are possible by the promise of the model into row i, in the order of its labels; said is true for each of
// them. They are said in words where they are not just the answer.
func possible(said answer.Tensor, i int, labels []string, row *AnsweredRow) error {
	if said.Data == nil {
		return nil
	}
	among := make(map[string]bool, len(labels))
	for j, name := range labels {
		is, ok := at[bool](said.Data, i*len(labels)+j)
		if !ok {
			return errors.New("the answer process did not say which classes are possible")
		}
		among[name] = is
	}
	for _, l := range row.Labels {
		if among[l.Label] {
			row.Possible = append(row.Possible, l.Label)
		}
	}
	if len(row.Possible) > 1 || len(row.Possible) == 1 && row.Possible[0] != row.Label {
		shown := row.Possible[:min(len(row.Possible), mostPossible)]
		row.Within = "Possible" + promised(said, " (%s)") + ": " + text.Excerpt(strings.Join(shown, ", "), 500)
		if more := len(row.Possible) - len(shown); more > 0 {
			row.Within += fmt.Sprintf(" and %d more", more)
		}
	}
	return nil
}

// promised puts the share of rows for which the tensor promises something into form; empty where it does not say the share.
func promised(of answer.Tensor, form string) string {
	share, ok := of.Parameters["coverage"].(float64)
	if !ok {
		return ""
	}
	return fmt.Sprintf(form, strconv.FormatFloat(math.Round(1e4*share)/100, 'f', -1, 64)+" %")
}
