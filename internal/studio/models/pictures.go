package models

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"image/png"
	"math"
	"regexp"
	"slices"

	"github.com/ncsa/clowder-ray/internal/answer"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// pngType is the content type of tensors of pictures, which are PNGs in base64.
	pngType = "image/png"
	// maxPixels is the largest picture of an answer; the answer process answers for pictures of 4 million.
	maxPixels = 4_200_000
	// maxColours is how many colours have a meaning in a picture, maxSteps those of a scale.
	maxColours, maxSteps = 256, 32
	// maxSaid is how long a sentence about a picture may be.
	maxSaid = 1000
	// mostColours is how many of them a page names.
	mostColours = 12
)

// AnswerPicture is a picture that is an answer, or that shows one.
type AnswerPicture struct {
	Name string `json:"name"`
	// Shown says that the picture is drawn for people. Others have values in their pixels.
	Shown  bool `json:"shown,omitempty"`
	Width  int  `json:"width"`
	Height int  `json:"height"`
	// PNG is the file in base64.
	PNG string `json:"png"`
	// Says is a sentence about what is drawn.
	Says string `json:"says,omitempty"`
	// Scale is the scale of a picture of numbers.
	Scale *AnswerScale `json:"scale,omitempty"`
}

// Gradient is the name of the colours of its scale within a page.
func (p AnswerPicture) Gradient() string {
	if plainName.MatchString(p.Name) {
		return "scale-" + p.Name
	}
	return "scale"
}

// URL is the address of the picture in a page.
func (p AnswerPicture) URL() template.URL {
	return template.URL("data:" + pngType + ";base64," + p.PNG) //nolint:gosec // base64 that this package has written ends no attribute
}

// AnswerColour is what a colour in the pictures stands for.
type AnswerColour struct {
	Label string `json:"label"`
	// Colour is #rrggbb; empty for what is left as it is.
	Colour string `json:"colour,omitempty"`
	// Value is that of such pixels in the pictures that are not drawn for people.
	Value *int `json:"value,omitempty"`
	// Share is the share of the pixels, and Low and High are the ends of its interval, where the model promises one.
	Share float64  `json:"share"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	// Within says the interval in words.
	Within string `json:"within,omitempty"`
}

// Percent is the share as people read it.
func (c AnswerColour) Percent() string { return LikelyLabel{Probability: c.Share}.Percent() }

// AnswerScale is the scale of a picture of numbers: its colours, evenly from the one of Low and less to that of High and more.
type AnswerScale struct {
	Low     float64  `json:"low"`
	High    float64  `json:"high"`
	Colours []string `json:"colours"`
}

// Stops are the colours with their places on a drawn scale, in percent.
func (s AnswerScale) Stops() []ScaleStop {
	out := make([]ScaleStop, len(s.Colours))
	for i, c := range s.Colours {
		out[i] = ScaleStop{fmt.Sprintf("%.1f%%", 100*float64(i)/float64(len(s.Colours)-1)), c}
	}
	return out
}

// Ends are the numbers at the ends of the scale as people read them.
func (s AnswerScale) Ends() [2]string {
	return [2]string{text.Significant(s.Low), text.Significant(s.High)}
}

// ScaleStop is a colour of a scale and its place.
type ScaleStop struct{ Offset, Colour string }

// Named are the colours that a page names.
func (r AnsweredRow) Named() []AnswerColour { return r.Legend[:min(len(r.Legend), mostColours)] }

// More is how many colours a page does not name.
func (r AnsweredRow) More() int { return len(r.Legend) - len(r.Named()) }

// Repeats reports whether several of the named colours are the same.
func (r AnsweredRow) Repeats() bool {
	seen := map[string]bool{}
	for _, c := range r.Named() {
		if seen[c.Colour] {
			return true
		}
		seen[c.Colour] = true
	}
	return false
}

var (
	hexColour = regexp.MustCompile(`^#[0-9a-f]{6}$`)
	plainName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
)

// hasPictures reports whether pictures are among the outputs.
func hasPictures(outputs []answer.Tensor) bool { return slices.ContainsFunc(outputs, isPicture) }

func isPicture(o answer.Tensor) bool { return o.Parameters["content_type"] == pngType }

// pictured reads outputs with pictures: these, what their colours stand for, and values beside them, with intervals.
func pictured(outputs []answer.Tensor, rows int) ([]AnsweredRow, error) {
	out := make([]AnsweredRow, rows)
	others, low, high := apart(outputs)
	for _, o := range others {
		var err error
		switch {
		case isPicture(o):
			err = pictures(o, out)
		case o.Parameters["labels"] != nil:
			err = legend(o, low, high, out)
		default:
			err = values([]answer.Tensor{o}, out)
		}
		if err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(out, func(r AnsweredRow) bool { return r.Legend != nil }) {
		return out, nil
	}
	return out, within(low, high, out)
}

func pictures(o answer.Tensor, rows []AnsweredRow) error {
	scale, err := scaleOf(o.Parameters)
	if err != nil {
		return err
	}
	for i := range rows {
		encoded, _ := at[string](o.Data, i)
		content, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(content) == 0 {
			return errors.New("the answer process sent no picture in base64")
		}
		config, err := png.DecodeConfig(bytes.NewReader(content))
		if err != nil {
			return fmt.Errorf("the answer process sent a picture that is no PNG: %w", err)
		}
		if config.Width < 1 || config.Height < 1 || config.Width > maxPixels/config.Height {
			return fmt.Errorf("the answer process sent a picture of %d x %d pixels", config.Width, config.Height)
		}
		shown, _ := o.Parameters["shown"].(bool)
		said, _ := o.Parameters["says"].([]any)
		says, _ := at[string](said, i)
		rows[i].Pictures = append(rows[i].Pictures, AnswerPicture{
			Name: text.Excerpt(o.Name, 60), Shown: shown, Width: config.Width, Height: config.Height, PNG: base64.StdEncoding.EncodeToString(content),
			Says: text.Excerpt(says, maxSaid), Scale: scale,
		})
		if rows[i].Scale == nil {
			rows[i].Scale = scale
		}
	}
	return nil
}

// scaleOf reads the scale among the parameters of a picture, nil for none.
func scaleOf(parameters map[string]any) (*AnswerScale, error) {
	ends, ok := parameters["scale"].([]any)
	if !ok {
		return nil, nil
	}
	low, ok1 := at[float64](ends, 0)
	high, ok2 := at[float64](ends, 1)
	colours, ok3 := colours(parameters["colours"], maxSteps)
	if !ok1 || !ok2 || !ok3 || !(low < high) || len(colours) < 2 || slices.Contains(colours, "") {
		return nil, errors.New("the answer process sent a scale that cannot be drawn")
	}
	return &AnswerScale{Low: low, High: high, Colours: colours}, nil
}

// colours reads a list of colours; an empty one stands for none.
func colours(list any, most int) ([]string, bool) {
	items, ok := list.([]any)
	if !ok || len(items) > most {
		return nil, false
	}
	out := make([]string, len(items))
	for i, item := range items {
		colour, ok := item.(string)
		if !ok || colour != "" && !hexColour.MatchString(colour) {
			return nil, false
		}
		out[i] = colour
	}
	return out, true
}

// legend puts what the colours of the pictures stand for into the rows, the largest share first, with the intervals of the shares.
func legend(o, low, high answer.Tensor, rows []AnsweredRow) error {
	labels, _ := o.Parameters["labels"].([]any)
	found, ok := colours(o.Parameters["colours"], maxColours)
	given, _ := o.Parameters["values"].([]any)
	if !ok || len(found) != len(labels) || len(o.Data) != len(rows)*len(labels) {
		return errors.New("the answer process sent a legend that cannot be read")
	}
	for i := range rows {
		for j := range labels {
			label, ok1 := labels[j].(string)
			share, ok2 := at[float64](o.Data, i*len(labels)+j)
			if !ok1 || !ok2 || !(share >= 0 && share <= 1) {
				return errors.New("the answer process sent a legend that cannot be read")
			}
			entry := AnswerColour{Label: text.Excerpt(label, 200), Colour: found[j], Share: share}
			if v, ok := at[float64](given, j); ok && v == math.Trunc(v) && math.Abs(v) < 1<<24 {
				value := int(v)
				entry.Value = &value
			}
			if low.Data != nil || high.Data != nil {
				from, ok1 := at[float64](low.Data, i*len(labels)+j)
				to, ok2 := at[float64](high.Data, i*len(labels)+j)
				if !ok1 || !ok2 || !(from >= 0 && from <= to && to <= 1) {
					return errors.New("the answer process sent a legend that cannot be read")
				}
				entry.Low, entry.High = &from, &to
				entry.Within = LikelyLabel{Probability: from}.Percent() + " to " + LikelyLabel{Probability: to}.Percent() + promised(low, " (%s interval)")
			}
			rows[i].Legend = append(rows[i].Legend, entry)
		}
		slices.SortStableFunc(rows[i].Legend, func(a, b AnswerColour) int { return cmp.Compare(b.Share, a.Share) })
	}
	return nil
}
