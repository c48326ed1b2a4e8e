package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/ncsa/clowder-ray/internal/answer"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/studio/web"
	"github.com/ncsa/clowder-ray/internal/text"
)

// maxRows is how many rows one request may ask about.
const maxRows = 64

// ModelAnswer is what a model answered for the rows of a request.
type ModelAnswer struct {
	// Model is the version that answered: reviews/3.
	Model string `json:"model"`
	// Milliseconds is the time from the service to the model and back.
	Milliseconds float64 `json:"milliseconds"`
	// Woken says that the process had to be started first, which takes a second or two.
	Woken bool `json:"woken,omitempty"`
	// Took says the same in words: 3 ms.
	Took string        `json:"took"`
	Rows []AnsweredRow `json:"rows"`
}

// AnsweredRow is the answer for one row.
type AnsweredRow struct {
	// Label is the predicted class, or the predicted labels.
	Label string `json:"label,omitempty"`
	// Value is the predicted number.
	Value *float64 `json:"value,omitempty"`
	// Low and High are the ends of the interval of the number, or of the one among the values that has one, where the model promises it.
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
	// Possible are the classes or labels that are possible by the promise of the model, the likeliest first; none where it promises nothing.
	Possible []string `json:"possible,omitempty"`
	// Within says the same in words: 12 to 18 (90 % interval).
	Within string `json:"within,omitempty"`
	// Unsure says that even the likeliest class is less likely than min_confidence.
	Unsure bool `json:"unsure,omitempty"`
	// Values are the answer of a model that predicts neither classes nor a number: what it says, by name.
	Values []AnswerValue `json:"values,omitempty"`
	// Labels are the classes, the likeliest first.
	Labels []LikelyLabel `json:"labels,omitempty"`
	// Parts are the text in parts, those that are entities with their type.
	Parts []TextPart `json:"parts,omitempty"`
	// Why says what raised the answer, where that was asked for.
	Why *Reasons `json:"why,omitempty"`
	// Pictures are the answer of a model that answers with pictures: as people see it, and as values of pixels.
	Pictures []AnswerPicture `json:"pictures,omitempty"`
	// Legend says what the colours in the pictures stand for, the largest area first; Scale does where they stand for numbers, and is that of
	// the first picture that has one.
	Legend []AnswerColour `json:"legend,omitempty"`
	Scale  *AnswerScale   `json:"scale,omitempty"`
}

// AnswerValue is one of several values that are an answer together.
type AnswerValue struct {
	Name string `json:"name"`
	// Text is the value as people read it.
	Text string `json:"text"`
}

// TextPart is a part of a text.
type TextPart struct {
	Text string `json:"text"`
	// Entity is the type of the entity that the part is, empty for none. Start and End are its characters, from 0.
	Entity      string  `json:"entity,omitempty"`
	Start       int     `json:"start"`
	End         int     `json:"end"`
	Probability float64 `json:"probability,omitempty"`
}

// Percent is the probability as people read it.
func (p TextPart) Percent() string { return LikelyLabel{Probability: p.Probability}.Percent() }

// LikelyLabel is a class with its probability.
type LikelyLabel struct {
	Label       string  `json:"label"`
	Probability float64 `json:"probability"`
}

// Percent is the probability as people read it.
func (l LikelyLabel) Percent() string { return fmt.Sprintf("%.1f %%", 100*l.Probability) }

// Number is the predicted number as people read it.
func (r AnsweredRow) Number() string {
	if r.Value == nil {
		return ""
	}
	return text.Significant(*r.Value)
}

// ask lets a version answer rows, each an object from column to value. sure is the confidence below which an answer is called unsure. The
// visitor may see the dataset.
func (s *Section) ask(ctx context.Context, v registry.Version, rows []map[string]any, sure float64) (ModelAnswer, error) {
	visitor := web.VisitorOf(ctx)
	if err := s.quota.Take(cmp.Or(visitor.Email, visitor.Session), s.now()); err != nil {
		return ModelAnswer{}, err
	}
	inputs, err := tensors(s.reads(v), rows)
	if err != nil {
		return ModelAnswer{}, err
	}
	began := s.now()
	reply, err := s.Answers.Infer(ctx, place(v), inputs)
	if err != nil {
		return ModelAnswer{}, problem(err)
	}
	took := s.now().Sub(began)
	out := ModelAnswer{Model: v.Ref(), Milliseconds: math.Round(10*took.Seconds()*1000) / 10, Woken: reply.Woken, Took: text.Latency(took)}
	if out.Woken {
		out.Took += ", with waking the model"
	}
	if hasParts(reply.Outputs) {
		out.Rows, err = marked(reply.Outputs, rows)
		return out, err
	}
	if hasPictures(reply.Outputs) {
		out.Rows, err = pictured(reply.Outputs, len(rows))
		return out, err
	}
	if out.Rows, err = answered(reply.Outputs, v.Labels, len(rows), sure); err != nil {
		return ModelAnswer{}, err
	}
	return out, nil
}

func place(v registry.Version) answer.Model {
	return answer.Model{Folder: v.Folder(), Name: v.Name, Version: v.Version}
}

// tensors turns rows into the inputs of the protocol, one for each column. A number may be sent as text, as in a file.
func tensors(reads ModelReads, rows []map[string]any) ([]answer.Tensor, error) {
	if reads.Why != "" {
		return nil, &web.Problem{Type: "no-single-answers", Title: "This version does not answer single rows", Status: http.StatusConflict, Detail: reads.Why}
	}
	if len(rows) == 0 || len(rows) > maxRows {
		return nil, invalid(fmt.Sprintf("A request has 1 to %d rows.", maxRows))
	}
	columns := map[string]bool{}
	for _, c := range reads.Columns {
		columns[c.Name] = true
	}
	sent := map[string]bool{}
	for _, row := range rows {
		for name := range row {
			if !columns[name] {
				return nil, invalid(fmt.Sprintf("The model has no column %q.", text.Excerpt(name, 60)))
			}
			sent[name] = true
		}
	}
	var out []answer.Tensor
	for _, c := range reads.Columns {
		if !sent[c.Name] {
			continue
		}
		tensor := answer.Tensor{Name: c.Name, Datatype: "BYTES", Shape: []int{len(rows)}}
		for _, row := range rows {
			switch cell := row[c.Name].(type) {
			case nil:
				tensor.Data = append(tensor.Data, "")
			case string, float64, int, bool:
				tensor.Data = append(tensor.Data, cell)
			default:
				return nil, invalid(fmt.Sprintf("The column %q must hold texts or numbers.", text.Excerpt(c.Name, 60)))
			}
		}
		if c.Type == "image" {
			tensor.Parameters = map[string]any{"content_type": "base64"}
		}
		out = append(out, tensor)
	}
	return out, nil
}

func invalid(detail string) *web.Problem {
	return &web.Problem{Type: "invalid-input", Title: "The model cannot read this", Status: http.StatusUnprocessableEntity, Detail: detail, Do: "Correct the input, then ask again."}
}

// problem turns an error of the answer process into one that a visitor reads.
func problem(err error) error {
	if refused, ok := errors.AsType[*answer.RefusedError](err); ok {
		switch refused.Status {
		case http.StatusNotFound:
			return web.NotFound
		case http.StatusConflict:
			return &web.Problem{Type: "no-single-answers", Title: "This version does not answer single rows", Status: http.StatusConflict, Detail: refused.Message}
		case http.StatusInternalServerError:
			return &web.Problem{Type: "model-damaged", Title: "The model cannot be read", Status: http.StatusBadGateway, Detail: refused.Message}
		}
		return invalid(refused.Message)
	}
	if errors.Is(err, answer.ErrNotSetUp) {
		return &web.Problem{
			Type: "no-answers", Title: "Single answers are not set up here", Status: http.StatusServiceUnavailable,
			Detail: "This service has no process that answers single rows.",
			Do:     "Let the model answer for a dataset, or ask the administrator to set PREDICTOR_URL.", RetryAfter: time.Minute,
		}
	}
	return &web.Problem{
		Type: "answers-busy", Title: "The model did not answer", Status: http.StatusServiceUnavailable,
		Detail: "The process that answers single rows did not answer in time.", Do: "Try again in a few seconds.", RetryAfter: 5 * time.Second,
	}
}

// answered reads the outputs of the protocol.
func answered(outputs []answer.Tensor, labels []string, rows int, sure float64) ([]AnsweredRow, error) {
	named := map[string]answer.Tensor{}
	for _, o := range outputs {
		named[o.Name] = o
	}
	out := make([]AnsweredRow, rows)
	if values, ok := named["value"]; ok {
		for i := range out {
			value, ok := at[float64](values.Data, i)
			if !ok {
				return nil, errors.New("the answer process sent no number")
			}
			out[i].Value = &value
		}
		return out, intervals(named["low"], named["high"], out)
	}
	if _, ok := named["label"]; !ok && len(outputs) > 0 {
		others, low, high := apart(outputs)
		if err := values(others, out); err != nil {
			return nil, err
		}
		return out, within(low, high, out)
	}
	for i := range out {
		label, ok := at[string](named["label"].Data, i)
		if !ok {
			return nil, errors.New("the answer process sent no label")
		}
		out[i].Label = label
		var sum float64
		for j, name := range labels {
			p, ok := at[float64](named["probability"].Data, i*len(labels)+j)
			if !ok {
				return nil, errors.New("the answer process sent no probability")
			}
			sum += p
			out[i].Labels = append(out[i].Labels, LikelyLabel{name, p})
		}
		slices.SortStableFunc(out[i].Labels, func(a, b LikelyLabel) int { return cmp.Compare(b.Probability, a.Probability) })
		if err := possible(named["possible"], i, labels, &out[i]); err != nil {
			return nil, err
		}
		several := math.Abs(sum-1) > 0.01 // labels that do not exclude each other
		out[i].Unsure = !several && len(labels) > 1 && out[i].Labels[0].Probability < sure
	}
	return out, nil
}

// values puts the value that each output has for a row into the row.
func values(outputs []answer.Tensor, rows []AnsweredRow) error {
	for _, o := range outputs {
		if len(o.Data) != len(rows) {
			return fmt.Errorf("the answer process sent %d values of %s for %d rows", len(o.Data), text.Excerpt(o.Name, 60), len(rows))
		}
		for i := range rows {
			value := AnswerValue{Name: text.Excerpt(o.Name, 60)}
			switch said := o.Data[i].(type) {
			case string:
				value.Text = said
			case float64:
				value.Text = text.Significant(said)
			default:
				return fmt.Errorf("the answer process sent neither a text nor a number as %s", value.Name)
			}
			rows[i].Values = append(rows[i].Values, value)
		}
	}
	return nil
}

func at[T any](data []any, i int) (T, bool) {
	if i >= len(data) {
		var none T
		return none, false
	}
	value, ok := data[i].(T)
	return value, ok
}

func numberOf(v registry.Version) string { return strconv.Itoa(v.Version) }
