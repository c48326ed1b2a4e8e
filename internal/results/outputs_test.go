package results_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// scriptWithOutputs is the document of a script that hands over the outputs alone.
func scriptWithOutputs(t *testing.T, outputs ...results.Output) []byte {
	t.Helper()
	r, err := results.DecodeResult(resultstest.Golden(t, "result-script.json"))
	require.NoError(t, err)
	r.Outputs = outputs
	doc, err := json.Marshal(r)
	require.NoError(t, err)
	return doc
}

func TestAnOutputIsNamedInOneWayOnly(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		path    string
		allowed bool
	}{
		"a file":                              {"out/a.csv", true},
		"a file in folders":                   {"out/a/b/c.csv", true},
		"letters of other scripts":            {"out/größe 漢字.csv", true},
		"dots inside of a name":               {"out/a..b", true},
		"a hidden file":                       {"out/.a", true},
		"the longest path":                    {"out/" + strings.Repeat("a", 1020), true},
		"one byte longer":                     {"out/" + strings.Repeat("a", 1021), false},
		"the folder itself":                   {"out", false},
		"the folder with a slash":             {"out/", false},
		"a folder":                            {"out/a/", false},
		"no path":                             {"", false},
		"another folder that begins alike":    {"output/a", false},
		"the folder in capitals":              {"OUT/a", false},
		"two slashes":                         {"out//a", false},
		"a dot":                               {"out/./a", false},
		"a way up that comes back":            {"out/a/../b", false},
		"a way up that leaves the run":        {"out/../../a", false},
		"the root":                            {"/out/a", false},
		"a way up of another system":          {`out\..\..\a`, false},
		"a drive of another system":           {"out/C:a", false},
		"a stream of another system":          {"out/a.txt:hidden", false},
		"a control character":                 {"out/a\x1b[2J", false},
		"the character that deletes":          {"out/a\x7f", false},
		"a tab":                               {"out/a\tb", false},
		"a byte that ends a name in C":        {"out/a\x00.csv", false},
		"a carriage return":                   {"out/a\rb", false},
		"a long path of a hostile trainer":    {strings.Repeat("../", 30_000) + "etc/passwd", false},
		"a path that ends with a folder mark": {"out/a/.", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := results.DecodeResult(scriptWithOutputs(t, results.Output{Path: tc.path, Size: 1, SHA256: strings.Repeat("0", 64)}))
			if tc.allowed {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			require.Less(t, len(err.Error()), 600)
			require.NotRegexp(t, `[\x00-\x1f]`, err.Error(), "what a trainer wrote cannot change a log or a terminal")
		})
	}
}

func TestTheListOfOutputsIsHeldAgainstItself(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("0", 64)
	file := func(path string, size int64) results.Output {
		return results.Output{Path: path, Size: size, SHA256: sum}
	}
	several := func(n int) []results.Output {
		outputs := make([]results.Output, n)
		for i := range outputs {
			outputs[i] = file(fmt.Sprintf("out/%d", i), 1)
		}
		return outputs
	}
	for name, tc := range map[string]struct {
		outputs []results.Output
		text    string
	}{
		"none":                           {[]results.Output{}, ""},
		"the same name in other folders": {[]results.Output{file("out/a", 1), file("out/b/a", 1)}, ""},
		"an empty file":                  {[]results.Output{file("out/a", 0)}, ""},
		"as many as are read":            {several(10_000), ""},
		"one more":                       {several(10_001), "artifacts: 10,001 are too many"},
		"as large as is read":            {[]results.Output{file("out/a", 32<<30), file("out/b", 32<<30)}, ""},
		"one byte more": {
			[]results.Output{file("out/a", 32<<30), file("out/b", 32<<30), file("out/c", 1)},
			"the artifacts have more than 64 GiB",
		},
		"a single one that is too large": {[]results.Output{file("out/a", 64<<30+1)}, "the artifacts have more than 64 GiB"},
		"names that differ in capitals": {
			[]results.Output{file("out/Model.csv", 1), file("out/model.CSV", 1)},
			`artifact "out/model.CSV" is named twice`,
		},
		"names that differ in capital É": {[]results.Output{file("out/É", 1), file("out/é", 1)}, `artifact "out/é" is named twice`},
		"a size below zero":              {[]results.Output{file("out/a", -1)}, "artifacts.0.size: minimum"},
		"a sha256 in capitals":           {[]results.Output{{Path: "out/a", SHA256: strings.Repeat("A", 64)}}, "artifacts.0.sha256"},
		"a sha256 with a line end":       {[]results.Output{{Path: "out/a", SHA256: sum[1:] + "\n"}}, "artifacts.0.sha256"},
		"a sha256 of another length":     {[]results.Output{{Path: "out/a", SHA256: sum + "0"}}, "artifacts.0.sha256"},
		"no sha256":                      {[]results.Output{{Path: "out/a"}}, "artifacts.0.sha256"},
		"sizes whose sum would begin again": {
			[]results.Output{file("out/a", 1<<62), file("out/b", 1<<62), file("out/c", 1<<62), file("out/d", 1<<62)},
			"the artifacts have more than 64 GiB",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := results.DecodeResult(scriptWithOutputs(t, tc.outputs...))
			if tc.text == "" {
				require.NoError(t, err)
				require.Len(t, r.Outputs, len(tc.outputs))
				return
			}
			require.ErrorContains(t, err, tc.text)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestASHA256IsWrittenInOneWay(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		sum  string
		want bool
	}{
		"all digits":               {"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", true},
		"capitals":                 {strings.Repeat("A", 64), false},
		"one digit less":           {strings.Repeat("a", 63), false},
		"one digit more":           {strings.Repeat("a", 65), false},
		"another letter at an end": {strings.Repeat("a", 63) + "g", false},
		"another letter inside":    {strings.Repeat("a", 32) + "/" + strings.Repeat("a", 31), false},
		"64 bytes of 32 letters":   {strings.Repeat("é", 32), false},
		"nothing":                  {"", false},
	} {
		require.Equal(t, tc.want, results.IsSHA256(tc.sum), name)
	}
}

func TestEachKindOfRunHandsOverWhatItWasMadeFor(t *testing.T) {
	t.Parallel()
	const noWeights = "there are no weights (out/model/*.safetensors) among the artifacts"
	const noPredictions = "there is no out/predictions.csv among the artifacts"
	for name, tc := range map[string]struct {
		golden, path, text string
	}{
		"weights":                             {results.ResultFile, "out/model/a.safetensors", ""},
		"weights of a part of the model":      {results.ResultFile, "out/model/adapter/a.safetensors", ""},
		"weights beside the model":            {results.ResultFile, "out/a.safetensors", noWeights},
		"weights of the simple model alone":   {results.ResultFile, "out/baseline/weights.safetensors", noWeights},
		"weights in another format":           {results.ResultFile, "out/model/model.onnx", noWeights},
		"weights with an ending in capitals":  {results.ResultFile, "out/model/a.SAFETENSORS", noWeights},
		"predictions":                         {"result-prediction.json", "out/predictions.csv", ""},
		"predictions in another folder":       {"result-prediction.json", "out/a/predictions.csv", noPredictions},
		"a check that hands over a file":      {"result-check.json", "out/a.txt", ""},
		"a script that hands over any file":   {"result-script.json", "out/a.pkl", ""},
		"a failed script with a file of code": {"result-script-partial.json", "out/train.py", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := results.DecodeResult(resultstest.Golden(t, tc.golden))
			require.NoError(t, err)
			r.Outputs = []results.Output{{Path: tc.path, Size: 1, SHA256: strings.Repeat("0", 64)}}
			doc, err := json.Marshal(r)
			require.NoError(t, err)
			_, err = results.DecodeResult(doc)
			if tc.text == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, tc.text)
		})
	}
}
