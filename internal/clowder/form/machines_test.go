package form_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/form"
)

func TestTheFormOffersKindsOfMachines(t *testing.T) {
	t.Parallel()
	info := shippedInfo(t)
	for name, tc := range map[string]struct {
		profiles []string
		want     []string
	}{
		"no kind":    {nil, nil},
		"one kind":   {[]string{"cpu"}, nil},
		"two kinds":  {[]string{"cpu", "gpu"}, []string{"auto", "cpu", "gpu"}},
		"four kinds": {[]string{"small", "large", "gpu", "gpu-large"}, []string{"auto", "small", "large", "gpu", "gpu-large"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			described, err := info.WithProfiles(tc.profiles)
			require.NoError(t, err)
			require.Equal(t, tc.want, heartbeatOf(t, described, "q", form.Owner{}).Info.Parameters.Schema[form.Profile].Enum)
			if tc.want == nil {
				require.Same(t, info, described)
				require.NotContains(t, described.Defaults(), form.Profile)
				return
			}
			require.Equal(t, "auto", described.Defaults()[form.Profile])
			require.NotContains(t, info.Defaults(), form.Profile, "the original stays as it is")
			for _, choice := range tc.want {
				resolved, _, err := described.Parameters(map[string]any{form.Profile: strings.ToUpper(choice)})
				require.NoError(t, err)
				require.Equal(t, choice, resolved[form.Profile])
			}
			_, _, err = described.Parameters(map[string]any{form.Profile: "abacus"})
			require.EqualError(t, err, "Invalid parameters: profile must be one of "+strings.Join(tc.want, ", ")+` (got "abacus")`)
			body := string(described.Heartbeat("q", form.Owner{}, "i"))
			require.Greater(t, strings.Index(body, `"profile":{`), strings.Index(body, `"dry_run":{`), "it is the last field")
		})
	}
	for _, bad := range []string{`a"b`, "a<b", "a\nb", "große"} {
		_, err := info.WithProfiles([]string{bad, "gpu"})
		require.ErrorContains(t, err, "plain ASCII", bad)
	}
}

func TestAnExtractorIsRegisteredUnderItsQueue(t *testing.T) {
	t.Parallel()
	info := shippedInfo(t)
	for queue, want := range map[string]string{"": info.Name, info.Name: info.Name, "renamed": "renamed"} {
		require.Equal(t, want, info.RegisteredName(queue))
	}
}

// formOf parses a document whose form is the given schema.
func formOf(tb testing.TB, schema string) *form.Info {
	tb.Helper()
	info, err := form.Parse([]byte(`{"name":"x","version":"1","description":"d","author":"a","contexts":[],"repository":[],"process":{"dataset":["*"]},` +
		`"parameters":{"schema":` + schema + `}}`))
	require.NoError(tb, err)
	return info
}

func TestATruthValueMayBeWrittenInManyWays(t *testing.T) {
	t.Parallel()
	info := formOf(t, `{"sure":{"type":"boolean","title":"Sure","default":false}}`)
	for name, tc := range map[string]struct {
		raw  any
		want any
	}{
		"true": {true, true}, "false": {false, false}, "a word": {"Yes", true}, "another word": {" OFF ", false},
		"one": {json.Number("1"), true}, "zero": {0.0, false}, "one as text": {"1", true}, "one with a point": {json.Number("1.0"), true},
		"a whole one": {1, true}, "a large zero": {int64(0), false}, "nothing": {nil, false}, "a blank": {" ", false},
		"two": {2.0, nil}, "a half": {json.Number("0.5"), nil}, "a number that is none": {json.Number("x"), nil},
		"a word of no meaning": {"perhaps", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resolved, _, err := info.Parameters(map[string]any{"sure": tc.raw})
			if tc.want == nil {
				require.ErrorContains(t, err, "Invalid parameters: sure must be true or false (got ")
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, resolved["sure"])
		})
	}
}

func TestLimitsAreNamedAsAPersonWritesThem(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ limits, raw, want string }{
		"a small one":      {`"minimum":0.001,"default":1`, "0.0001", "must be a number of at least 0.001 "},
		"a very small one": {`"minimum":1e-9,"default":1`, "0", "must be a number of at least 1e-09 "},
		"a large one":      {`"maximum":2147483647,"default":1`, "1e12", "must be a number of at most 2147483647 "},
		"a very large one": {`"maximum":1e20,"default":1`, "1e21", "must be a number of at most 1e+20 "},
		"a negative one":   {`"maximum":-0.5,"default":-1`, "0", "must be a number of at most -0.5 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := formOf(t, `{"x":{"type":"number","title":"X",`+tc.limits+`}}`).Parameters(map[string]any{"x": tc.raw})
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestWholeNumbersStayExact(t *testing.T) {
	t.Parallel()
	info := formOf(t, `{"n":{"type":"integer","title":"N","default":0}}`)
	for raw, want := range map[string]any{
		"9007199254740992": int64(1) << 53, "-9007199254740992": -int64(1) << 53, "1e3": int64(1000), "-0": int64(0), "1_000": int64(1000),
		"9007199254740994": nil, "1e300": nil, "0.1": nil, "0x10": nil, "١": nil,
	} {
		resolved, _, err := info.Parameters(map[string]any{"n": raw})
		if want == nil {
			require.ErrorContains(t, err, "n must be a whole number", raw)
			continue
		}
		require.NoError(t, err, raw)
		require.Equal(t, want, resolved["n"], raw)
	}
}

func TestAChoiceOfManyNamesOnlySome(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ enum, want string }{
		"one": {`"a"`, `x must be a, which is the only choice here (got "z")`},
		"two": {`"a","b"`, `x must be one of a, b (got "z")`},
		"twenty-one": {
			`"a","b","c","d","e","f","g","h","i","j","k","l","m","n","o","p","q","r","s","t","u"`,
			`x must be one of a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t or 1 other (got "z")`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := formOf(t, `{"x":{"type":"string","title":"X","default":"a","enum":[`+tc.enum+`]}}`).Parameters(map[string]any{"x": "z"})
			require.EqualError(t, err, "Invalid parameters: "+tc.want)
		})
	}
}
