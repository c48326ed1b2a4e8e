package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/options"
)

func TestAMistakeInTheSyntaxIsShownWhereItIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, text string
		want       []string
	}{
		"JSON of nothing":           {"a.json", "", []string{"1:1-2 error: Unexpected end of JSON input."}},
		"JSON that ends in a value": {"a.json", "{\"a\":\n \"b", []string{"2:4-5 error: Unexpected end of JSON input."}},
		"two values of JSON":        {"a.json", "{}\n{}", []string{"2:1-2 error: Invalid character '{' after top-level value."}},
		"JSON after letters that are not Latin": {
			"a.json", "{\"数据\": x}", []string{"1:8-9 error: Invalid character 'x' looking for beginning of value."},
		},
		"JSON of ten thousand brackets": {
			"a.json", strings.Repeat("[", 20_000), []string{"1:10001-10002 error: Invalid character '[' exceeded max depth."},
		},
		"any JSON outside of the settings": {"a.json", "[{\"a\": 1, \"a\": 2}]", nil},
		"YAML after letters that are not Latin": {
			"a.yaml", "a: \"数据\" b\n", []string{"1:9-10 error: Did not find expected key while parsing a block mapping."},
		},
		"YAML with a reference to nothing": {"a.yaml", "a: *b\n", []string{"1:4-5 error: Unknown anchor 'b' referenced."}},
		"a mistake in the second document": {
			"a.yaml", "a: 1\n---\nb: @c\n", []string{"3:4-5 error: Found character that cannot start any token while scanning for the next token."},
		},
		"two documents outside of the settings": {"a.yaml", "a: 1\n---\na: 2\n", nil},
		"a mistake in the second of settings": {
			"finetune.yaml", "epochs: 1\n---\nb: @c\n",
			[]string{"3:4-5 error: Found character that cannot start any token while scanning for the next token."},
		},
		"a name twice in a list of groups": {
			"a.yaml", "- a: 1\n- b: 1\n  b: 2\n", []string{"3:3-4 error: b appears twice, the first time in line 2: remove one of them."},
		},
		"groups that are lent twice":  {"a.yaml", "a: &a {x: 1}\nb: &b {y: 1}\nc:\n  <<: *a\n  <<: *b\n", nil},
		"a list as a name":            {"a.yaml", "? [a, b]\n: 1\n? [a, b]\n: 2\n", nil},
		"lists of two hundred levels": {"a.yaml", strings.Repeat("[", options.MaxDepth) + strings.Repeat("]", options.MaxDepth), nil},
		"lists of one level more": {
			"a.yaml", strings.Repeat("[", options.MaxDepth+1) + strings.Repeat("]", options.MaxDepth+1), []string{"1:201-202 error: This is nested too deeply."},
		},
		"a name of TOML twice":             {"a.toml", "a = 1\n\na = 2\n", []string{"3:1-2 error: Key a is already defined."}},
		"TOML with two equal signs":        {"a.toml", "\n  a = 1 = 2\n", []string{"2:9-10 error: Expected newline but got U+003D '='."}},
		"a comment and a text of dots":     {"a.toml", "# " + strings.Repeat(".", 300) + "\na = '" + strings.Repeat(".", 300) + "'\n", nil},
		"a name of TOML with many parts":   {"a.toml", strings.Repeat("a.", 300) + "a = 1\n", []string{"1:402-403 error: This is nested too deeply."}},
		"many brackets of TOML one by one": {"a.toml", "a = [{b = [1]}]\n[c]\n" + strings.Repeat("[[d]]\n", 300), nil},
		"the ending of a name in capitals": {"A.YAML", "a: *b\n", []string{"1:4-5 error: Unknown anchor 'b' referenced."}},
		"a text without an ending":         {"yaml", "a: *b\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := lines(new(Checker).Check(t.Context(), c.file, c.text).Findings)
			require.Equal(t, append([]string{}, c.want...), got)
		})
	}
}

func TestReferencesAreNotWrittenOut(t *testing.T) {
	t.Parallel()
	var laughs strings.Builder
	laughs.WriteString("a0: &a0 [lol]\n")
	for i := 1; i <= 10; i++ { // each name stands for ten of the name before: written out, the last one has ten billion values
		one := fmt.Sprintf("*a%d", i-1)
		fmt.Fprintf(&laughs, "a%d: &a%d [%s]\n", i, i, strings.Repeat(one+", ", 9)+one)
	}
	require.Empty(t, new(Checker).Check(t.Context(), "a.yaml", laughs.String()).Findings)
	got := new(Checker).Check(t.Context(), "finetune.yaml", laughs.String()+"epochs: *a10\n").Errors()
	require.Equal(t, []string{"12:9-12 error: epochs must be a single value, not a list."}, lines(got))
}

func TestSettingsAreCheckedUnderAnyName(t *testing.T) {
	t.Parallel()
	const refused = "epochs must be a whole number from 1 to 200, not 900."
	checker := new(Checker)
	for name, c := range map[string]struct {
		file, text        string
		settings, checked string // the first message of Settings and of Check
	}{
		"YAML of another name":          {"mine.yaml", "epochs: 900\n", refused, ""},
		"JSON of another name":          {"mine.json", `{"epochs": 900}`, refused, ""},
		"the name of settings":          {"finetune.yml", "epochs: 900\n", refused, refused},
		"the name of settings, shouted": {"code/FINETUNE.JSON", `{"epochs": 900}`, refused, refused},
		"a name that begins like it":    {"finetune.yaml.bak.yaml", "epochs: 900\n", refused, ""},
		"a folder of the name":          {"finetune.yaml/other.yaml", "epochs: 900\n", refused, ""},
		"TOML, which has no settings":   {"finetune.toml", "epochs = 900\n", "", ""},
		"a text":                        {"finetune.txt", "epochs: 900\n", "", ""},
		"mistakes in the syntax":        {"mine.json", "{", "Unexpected end of JSON input.", "Unexpected end of JSON input."},
	} {
		first := func(r Report) string {
			require.NotNil(t, r.Findings, name)
			if len(r.Findings) == 0 {
				return ""
			}
			return r.Findings[0].Message
		}
		require.Equal(t, c.settings, first(checker.Settings(t.Context(), c.file, c.text)), name)
		require.Equal(t, c.checked, first(checker.Check(t.Context(), c.file, c.text)), name)
	}
}

func TestFindingsComeInTheOrderOfTheLinesAndErrorsAlone(t *testing.T) {
	t.Parallel()
	// Names that appear twice are found before the values are read.
	got := new(Checker).Check(t.Context(), "finetune.yaml", "sede: 1\nepochs: 900\nseed: 1\nsede: 2\nrhubarb: {a: 1}\n")
	require.Equal(t, []string{
		"1:1-5 warning: There is no option sede: do you mean seed?",
		"2:9-12 error: epochs must be a whole number from 1 to 200, not 900.",
		"4:1-5 error: sede appears twice, the first time in line 1: remove one of them.",
		"4:1-5 warning: There is no option sede: do you mean seed?",
		"5:11-12 warning: There is no option a: it is ignored.",
	}, lines(got.Findings))
	require.Equal(t, []string{
		"2:9-12 error: epochs must be a whole number from 1 to 200, not 900.",
		"4:1-5 error: sede appears twice, the first time in line 1: remove one of them.",
	}, lines(got.Errors()))
	require.Empty(t, Report{Findings: got.Findings[:1]}.Errors())
}

func TestAMessageShowsNoMoreThanAPartOfALongName(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("n", 500)
	for file, text := range map[string]string{
		"finetune.yaml": name + ": 1\n" + name + ": 2\n", "finetune.json": fmt.Sprintf("{%q: 1, %q: 2}", name, name), "a.yaml": "a: *" + name + "\n",
	} {
		got := new(Checker).Check(t.Context(), file, text)
		require.NotEmpty(t, got.Findings, file)
		for _, f := range got.Findings {
			require.Less(t, len(f.Message), 250, file)
		}
	}
}
