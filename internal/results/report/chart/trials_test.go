package chart

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

func TestTheTrialThatIsDeliveredStandsOut(t *testing.T) {
	t.Parallel()
	settings := func(rate float64) map[string]any { return map[string]any{"learning_rate": rate} }
	for name, tc := range map[string]struct {
		search results.Search
		want   map[string]string // the class of each trial
	}{
		"the default is delivered": {
			results.Search{Chosen: 0, Best: new(1)}, map[string]string{"0": "train", "1": "valid", "2": "steps"},
		},
		"the best other trial is delivered": {
			results.Search{Chosen: 2, Best: new(2)}, map[string]string{"0": "chance", "1": "steps", "2": "train"},
		},
		"a model that needs no search is delivered": {
			results.Search{Chosen: 0, Best: new(2), DefaultModel: "words"}, map[string]string{"0": "chance", "1": "steps", "2": "valid"},
		},
		"no other trial gave a model": {
			results.Search{Chosen: 0}, map[string]string{"0": "train", "1": "steps", "2": "steps"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.search.Trials = []results.Trial{trial(0, 0.4, settings(1)), trial(1, 0.3, settings(2)), trial(2, 0.2, settings(3))}
			p := Trials(&tc.search)
			classes := map[string]string{}
			for i, l := range p.Lines {
				number, _, found := strings.Cut(strings.TrimPrefix(l.Title, "Trial "), ":")
				require.True(t, found, l.Title)
				classes[number] = l.Class
				if i > 0 {
					require.GreaterOrEqual(t, rank(l.Class), rank(p.Lines[i-1].Class), "what matters is drawn over the others")
				}
			}
			require.Equal(t, tc.want, classes)
		})
	}
}

func TestAnAxisOfTrialsFitsItsValues(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		values    []any
		low, high string
		want      []float64 // where each trial crosses the axis
	}{
		"numbers by their size":                   {[]any{1.0, 3.0, 5.0}, "1", "5", []float64{0, 0.5, 1}},
		"ten times as much is logarithmic":        {[]any{1.0, 10.0, 100.0}, "1", "100", []float64{0, 0.5, 1}},
		"nearly ten times as much is not":         {[]any{1.0, 5.0, 9.0}, "1", "9", []float64{0, 0.5, 1}},
		"no logarithm of nothing":                 {[]any{0.0, 50.0, 100.0}, "0", "100", []float64{0, 0.5, 1}},
		"no logarithm of less than nothing":       {[]any{-100.0, 0.0, 100.0}, "-100", "100", []float64{0, 0.5, 1}},
		"words by their order":                    {[]any{"cosine", "linear", "none"}, "cosine", "none", []float64{0, 0.5, 1}},
		"a word twice":                            {[]any{"b", "a", "b"}, "a", "b", []float64{1, 0, 1}},
		"one word":                                {[]any{"a", "a", "a"}, "a", "a", []float64{0, 0, 0}},
		"yes and no":                              {[]any{true, false, true}, "false", "true", []float64{1, 0, 1}},
		"words beside numbers":                    {[]any{"auto", 16.0, 32.0}, "16", "auto", []float64{1, 0, 0.5}},
		"an option that a trial does not have":    {[]any{"a", nil, "b"}, "a", "–", []float64{0, 1, 0.5}},
		"nothing that can be read stays a dash":   {[]any{"a", "\u202e", "b"}, "a", "–", []float64{0, 1, 0.5}},
		"a long word is cut":                      {[]any{strings.Repeat("x", 50), "a", "a"}, "a", "xxxxxxxxx…", []float64{1, 0, 0}},
		"small numbers by their order of size":    {[]any{1e-5, 1e-4, 1e-3}, "1e-05", "0.001", []float64{0, 0.5, 1}},
		"numbers that hardly differ are linear":   {[]any{1e-5, 2e-5, 3e-5}, "1e-05", "3e-05", []float64{0, 0.5, 1}},
		"equal numbers lie in the middle of axes": {[]any{4.0, 4.0, 4.0}, "4", "4", []float64{0.5, 0.5, 0.5}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var trials []results.Trial
			for i, v := range tc.values {
				trials = append(trials, trial(i, 1, map[string]any{"x": v}))
			}
			a := newAxis("x", trials, func(t results.Trial) any { return t.Settings["x"] })
			require.Equal(t, []string{tc.low, tc.high}, []string{a.Low, a.High})
			for i, want := range tc.want {
				require.InDelta(t, want, a.values[i], 1e-9, "trial %d", i)
			}
		})
	}
}

func TestASearchOfManyOptionsHasRoomForItsAxes(t *testing.T) {
	t.Parallel()
	for options := 1; options <= 8; options++ {
		s := &results.Search{Chosen: 1, Repeat: map[string]any{}}
		for number := range 40 {
			settings := map[string]any{}
			for o := range options {
				settings[fmt.Sprintf("an option with the long name %d", o)] = math.Pow(10, float64(o*number%7))
			}
			s.Trials = append(s.Trials, trial(number, 1/float64(number+1), settings))
		}
		p := Trials(s)
		require.Len(t, p.Axes, min(options, maxAxes)+1, "and one for the loss")
		require.Equal(t, "loss", p.Axes[len(p.Axes)-1].Name)
		require.Equal(t, []string{"start", "end"}, []string{p.Axes[0].Anchor, p.Axes[len(p.Axes)-1].Anchor}, "no name leaves the picture")
		for i, a := range p.Axes {
			require.LessOrEqual(t, len([]rune(a.Name)), 20)
			require.True(t, a.X >= 0 && a.X <= float64(p.Width), "%d options, axis %d at %g", options, i, a.X)
			if i > 0 {
				require.Greater(t, a.X, p.Axes[i-1].X+50, "the values of two axes stand beside each other")
				require.NotEqual(t, p.Axes[i-1].NameY, a.NameY, "the names of neighbours stand in two rows")
			}
		}
		for _, l := range p.Lines {
			for point := range strings.FieldsSeq(l.Points) {
				_, y, _ := strings.Cut(point, ",")
				require.True(t, number(t, y) >= parallelTop && number(t, y) <= parallelBottom, "%s is on the axes", point)
			}
		}
	}
}
