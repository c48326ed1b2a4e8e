package delivery

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// metadataOf is what is written onto the dataset about a golden result that was changed.
func metadataOf(t *testing.T, golden string, change func(r *results.Result, m *manifest.Meta)) map[string]any {
	t.Helper()
	r, err := results.DecodeResult(resultstest.Golden(t, golden))
	require.NoError(t, err)
	m := resultstest.LikelyMeta(r)
	if change != nil {
		change(r, &m)
	}
	content := Metadata(m, r)
	_, err = json.Marshal(content)
	require.NoError(t, err)
	return content
}

func TestMetadataSaysWhereARunIsShownAndWhenItBegan(t *testing.T) {
	t.Parallel()
	content := metadataOf(t, results.ResultFile, func(_ *results.Result, m *manifest.Meta) {
		m.Page = "https://studio.example.org/runs/ft-1"
		m.Started = time.Date(2026, 12, 31, 20, 0, 0, 0, time.FixedZone("west", -8*60*60))
	})
	require.Equal(t, "https://studio.example.org/runs/ft-1", content["studio_url"])
	require.Equal(t, "2027-01-01T04:00:00Z", content["started"])
	require.Regexp(t, "^finetune/2027-01-01-", content["folder"], "the folder has the date of the same clock")
	require.NotContains(t, metadataOf(t, results.ResultFile, nil), "studio_url", "without a studio there is no address")
}

func TestMetadataOfATrainingWithoutTestRowsHasNoScoreOfThem(t *testing.T) {
	t.Parallel()
	content := metadataOf(t, results.ResultFile, func(r *results.Result, m *manifest.Meta) {
		r.Metrics.Test = nil
		m.Model = manifest.ModelVersion{}
	})
	for _, key := range []string{"test_value", "test_low", "test_high", "name", "name_version", "champion", "nodes"} {
		require.NotContains(t, content, key)
	}
	require.Contains(t, content, "validation_value")
	content = metadataOf(t, results.ResultFile, func(r *results.Result, _ *manifest.Meta) {
		r.Metrics.Test["accuracy"] = results.Score{Value: 0.5, N: 9}
	})
	got := []any{content["test_value"], content["test_low"], content["test_high"]}
	require.Equal(t, []any{0.5, 0.5, 0.5}, got, "an index needs the same fields each time")
}

// TestLabelsBecomeNoFieldsOfAnIndex: Clowder keeps one mapping of all keys that it has seen.
func TestLabelsBecomeNoFieldsOfAnIndex(t *testing.T) {
	t.Parallel()
	some := func(n int) map[string]int {
		counts := map[string]int{}
		for i := range n {
			counts[fmt.Sprintf("label %02d", i)] = i
		}
		return counts
	}
	for name, tc := range map[string]struct {
		counts map[string]int
		want   any
	}{
		"no labels":              {nil, nil},
		"one label":              {map[string]int{"a": 3}, `{"a":3}`},
		"as many as are counted": {some(fewLabels), string(must(json.Marshal(some(fewLabels))))},
		"one label more":         {some(fewLabels + 1), nil},
		"labels that look alike add up": {
			map[string]int{"a\n": 1, "a\t": 2, strings.Repeat("x", 80): 4, strings.Repeat("x", 90): 8},
			`{"a":3,"` + strings.Repeat("x", 59) + `…":12}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := metadataOf(t, "result-prediction.json", func(r *results.Result, _ *manifest.Meta) { r.Prediction.Counts = tc.counts })
			require.Equal(t, tc.want, content["counts"])
		})
	}
}

// must is the value of a call that cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestMetadataOfAScriptSaysHowItEnded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(s *results.Script)
		want   map[string]any // nil for a key that is not there
	}{
		"with a code": {
			func(s *results.Script) { s.Exit, s.Stopped = results.ScriptExit{Code: new(3)}, nil },
			map[string]any{"exit_code": 3, "stopped_by": nil},
		},
		"by a signal": {
			func(s *results.Script) { s.Exit, s.Stopped = results.ScriptExit{Signal: new(9)}, nil },
			map[string]any{"exit_code": nil, "stopped_by": nil},
		},
		"by its user": {
			func(s *results.Script) { s.Exit, s.Stopped = results.ScriptExit{Code: new(0)}, new("user") },
			map[string]any{"exit_code": 0, "stopped_by": "user"},
		},
		"by the time": {
			func(s *results.Script) { s.Exit, s.Stopped = results.ScriptExit{}, new("time") },
			map[string]any{"exit_code": nil, "stopped_by": "time"},
		},
		"without a metric": {func(s *results.Script) { s.Metric = nil }, map[string]any{"metric": nil, "value": nil}},
		"with a metric of a hostile name": {
			func(s *results.Script) {
				s.Metric = &results.ScriptMetric{Name: "val\n\x1b" + strings.Repeat("x", 99), Value: 2.5, Source: "log"}
			},
			map[string]any{"metric": "val " + strings.Repeat("x", 55) + "…", "value": 2.5},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := metadataOf(t, "result-script.json", func(r *results.Result, _ *manifest.Meta) { tc.change(r.Script) })
			for key, want := range tc.want {
				if want == nil {
					require.NotContains(t, content, key)
				} else {
					require.Equal(t, want, content[key], key)
				}
			}
		})
	}
}

func TestNoTextOfMetadataIsLongerThanAnIndexTakes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é\n", 4000)
	for golden, change := range map[string]func(r *results.Result, m *manifest.Meta){
		results.ResultFile: func(r *results.Result, m *manifest.Meta) {
			r.Model.Base, r.Metric, r.Training.Device, r.Task = long, long, long, long
			m.RunName = long
			r.Metrics.Baselines[1].Title = long
		},
		"result-prediction.json": func(r *results.Result, _ *manifest.Meta) {
			r.Prediction.Model.Name, r.Prediction.Counts = long, map[string]int{long: 9}
		},
		"result-script.json": func(r *results.Result, _ *manifest.Meta) {
			r.Script.Entry, r.Script.CodeSHA256, r.Script.Metric.Name = long, long, long
		},
		"result-check.json": func(r *results.Result, _ *manifest.Meta) { r.Task = long },
	} {
		for key, value := range metadataOf(t, golden, change) {
			if words, ok := value.(string); ok {
				require.LessOrEqual(t, utf8.RuneCountInString(words), results.MaxSentence, "%s: %s", golden, key)
				require.NotContains(t, words, "\n", "%s: %s", golden, key)
			}
		}
	}
}

func TestTheVocabularyIsNamedAfterTheExtractor(t *testing.T) {
	t.Parallel()
	for extractor, want := range map[string]string{
		"ncsa.ray.finetune":      "urn:clowder:extractor:ncsa-ray-finetune#",
		"NCSA Ray/Finetune #2":   "urn:clowder:extractor:ncsa-ray-finetune-2#",
		"":                       "urn:clowder:extractor:run#",
		strings.Repeat("a", 500): "urn:clowder:extractor:" + strings.Repeat("a", 80) + "#",
	} {
		require.Equal(t, map[string]any{"@vocab": want}, MetadataContext(extractor))
	}
}
