package labels

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
)

func TestALabelIsWrittenAsTheTrainingReadsIt(t *testing.T) {
	t.Parallel()
	numbers, words := &results.LabelForm{Number: true}, &results.LabelForm{Separator: ";", None: "(none)"}
	commas := []job.Input{{Label: "12,5"}, {Label: "7"}, {Label: "1,25"}, {Label: "0.5"}}
	for name, tc := range map[string]struct {
		form    *results.LabelForm
		inputs  []job.Input
		written string
		same    string
		content any
	}{
		"a class":                     {nil, nil, " grey  heron ", "grey heron", "grey heron"},
		"a number":                    {numbers, nil, "12.50", "12.5", 12.5},
		"a small number":              {numbers, nil, "1e-3", "0.001", 0.001},
		"beside numbers with commas":  {numbers, commas, "1.234", "1,234", "1,234"},
		"with a comma beside others":  {numbers, commas, "1,5", "1,5", "1,5"},
		"a set":                       {words, nil, "wren; robin ;wren", "robin; wren", []string{"robin", "wren"}},
		"a set of one":                {words, nil, "wren", "wren", []string{"wren"}},
		"a set of none":               {words, nil, "(none)", "(none)", "(none)"},
		"none and others":             {words, nil, "(none);wren", "wren", []string{"wren"}},
		"a set with commas":           {&results.LabelForm{Separator: ","}, nil, "wren,robin", "robin, wren", "robin, wren"},
		"a set with bars":             {&results.LabelForm{Separator: "|"}, nil, "wren|robin", "robin | wren", "robin | wren"},
		"a number is no set, as well": {&results.LabelForm{Number: true, Separator: ";"}, nil, "3", "3", 3.0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := formOf(tc.form, tc.inputs)
			same, content, err := f.read(tc.written)
			require.NoError(t, err)
			require.Equal(t, []any{tc.same, tc.content}, []any{same, content})
			require.Equal(t, same, f.same(same), "what is shown is read again")
		})
	}
}

func TestWhatIsNoLabelIsRefused(t *testing.T) {
	t.Parallel()
	numbers, words := &results.LabelForm{Number: true}, &results.LabelForm{Separator: ";", None: "(none)"}
	for name, tc := range map[string]struct {
		form    *results.LabelForm
		written string
	}{
		"no class":               {nil, " "},
		"no number":              {numbers, "wren"},
		"a number with a unit":   {numbers, "3 cm"},
		"not a number":           {numbers, "NaN"},
		"a number without end":   {numbers, "-Inf"},
		"a number too large":     {numbers, "1e100"},
		"thousands":              {numbers, "1,234"},
		"nothing for a number":   {numbers, ""},
		"a set of blanks":        {words, " ; ;"},
		"a set that is too long": {words, strings.Repeat("wren", 30) + ";" + strings.Repeat("tern", 30)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := formOf(tc.form, nil).read(tc.written)
			require.ErrorContains(t, err, "label")
		})
	}
	require.Empty(t, formOf(words, nil).same(""), "a file without a label is not one of none")
}
