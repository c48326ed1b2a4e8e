package results_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

// eventLine is a line of events.jsonl with those fields.
func eventLine(fields string) []byte {
	return []byte(`{"time":"2026-11-21T05:03:41Z","attempt":1,` + fields + `}`)
}

func TestALineThatIsNoEventIsRefused(t *testing.T) {
	t.Parallel()
	const missing, outOfRange, tooLarge = "time, kind or attempt is missing", "out of its range", "too large to be drawn"
	for name, tc := range map[string]struct{ line, text string }{
		"nothing":                          {"", "not an event"},
		"a list":                           {"[]", "cannot unmarshal"},
		"null":                             {"null", missing},
		"no time":                          {`{"attempt":1,"kind":"done"}`, missing},
		"a clock that was never set":       {`{"time":"1969-12-31T23:59:59Z","attempt":1,"kind":"done"}`, missing},
		"a time in other words":            {`{"time":"yesterday","attempt":1,"kind":"done"}`, "parsing time"},
		"no kind":                          {string(eventLine(`"kind":""`)), missing},
		"attempt 0":                        {`{"time":"2026-11-21T05:03:41Z","attempt":0,"kind":"done"}`, missing},
		"a step below zero":                {string(eventLine(`"kind":"best","step":-1`)), outOfRange},
		"workers below zero":               {string(eventLine(`"kind":"resource","workers":-1`)), outOfRange},
		"a trial below zero":               {string(eventLine(`"kind":"trial","trial":-1`)), outOfRange},
		"a start below zero":               {string(eventLine(`"kind":"started","start":-1`)), outOfRange},
		"a line below zero":                {string(eventLine(`"kind":"finding","line":-1`)), outOfRange},
		"a size below zero":                {string(eventLine(`"kind":"snapshot","size":-1`)), outOfRange},
		"more epochs than anybody needs":   {string(eventLine(`"kind":"progress","epochs":1000001`)), outOfRange},
		"more than the whole":              {string(eventLine(`"kind":"progress","fraction":1.01`)), outOfRange},
		"less than nothing":                {string(eventLine(`"kind":"progress","fraction":-0.01`)), outOfRange},
		"an end in the past":               {string(eventLine(`"kind":"progress","eta_seconds":-1`)), outOfRange},
		"a half epoch of progress":         {string(eventLine(`"kind":"progress","epoch":0.5`)), outOfRange},
		"a learning rate without end":      {string(eventLine(`"kind":"progress","learning_rate":1e301`)), tooLarge},
		"a best value without end":         {string(eventLine(`"kind":"trial","best_value":-1e301`)), tooLarge},
		"a number of a script without end": {string(eventLine(`"kind":"scalar","name":"loss","value":1e301`)), tooLarge},
		"an evaluation of nothing":         {string(eventLine(`"kind":"eval","split":"test","metrics":{}`)), "without a metric"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := results.DecodeEvent([]byte(tc.line))
			require.ErrorIs(t, err, results.ErrEvent)
			require.ErrorContains(t, err, tc.text)
			require.Zero(t, e)
		})
	}
}

func TestTheLimitsOfAnEventAreInsideOfIt(t *testing.T) {
	t.Parallel()
	for _, fields := range []string{
		`"kind":"progress","epoch":1000000,"epochs":1000000,"fraction":1`,
		`"kind":"progress","epoch":0,"fraction":0,"eta_seconds":0,"loss":null`,
		`"kind":"eval","epoch":0.25,"metrics":{"loss":1e300}`,
		`"kind":"news of a newer trainer","weather":{"sun":true}`,
		`"KIND":"done"`,
	} {
		_, err := results.DecodeEvent(eventLine(fields))
		require.NoError(t, err, fields)
	}
}

// TestEveryWordOfAnEventIsCut: a line of 64 KiB of any field would else be kept as it is.
func TestEveryWordOfAnEventIsCut(t *testing.T) {
	t.Parallel()
	sentences := []string{"text", "what", "why", "do", "settings", "best_settings"}
	names := []string{"kind", "phase", "code", "split", "metric", "path", "device", "state", "name", "id", "file", "severity", "resumed_from"}
	for _, field := range append(sentences, names...) {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			words := map[string]any{"time": "2026-11-21T05:03:41Z", "attempt": 1, "kind": "phase"}
			words[field] = strings.Repeat("ü", 20_000)
			line, err := json.Marshal(words)
			require.NoError(t, err)
			e, err := results.DecodeEvent(line)
			require.NoError(t, err)
			doc, err := json.Marshal(e)
			require.NoError(t, err)
			require.Less(t, len(doc), 2*results.MaxEventText+200)
			require.Contains(t, string(doc), "ü…", "the cut is shown")
		})
	}
}

func TestTheFirstMetricsOfAnEvaluationAreKeptByName(t *testing.T) {
	t.Parallel()
	e, err := results.DecodeEvent(eventLine(`"kind":"eval","split":"test","metrics":{` + manyMetrics(500) + `,"accuracy":0.5}`))
	require.NoError(t, err)
	require.Len(t, e.Metrics, results.MaxEventMetrics)
	require.Contains(t, e.Metrics, "accuracy", "it comes first in the alphabet")
}

func TestWhatWasChosenIsShownInWords(t *testing.T) {
	t.Parallel()
	for choice, want := range map[string]string{
		`"label"`:            "label",
		`"say \"yes\" ü"`:    `say "yes" ü`,
		`["a","b","c"]`:      "a, b and c",
		`[]`:                 "",
		`3`:                  "3",
		`true`:               "true",
		`null`:               "",
		`{"rows":[1,2]}`:     `{"rows":[1,2]}`,
		`["a",1]`:            `["a",1]`,
		`["only one"]`:       "only one",
		`["a, b","c and d"]`: "a, b and c and d",
	} {
		e, err := results.DecodeEvent(eventLine(`"kind":"decision","what":"w","choice":` + choice))
		require.NoError(t, err, choice)
		require.Equal(t, want, e.ChoiceText(), choice)
	}
	require.Empty(t, results.Event{}.ChoiceText())
}

func TestAnEvaluationIsPlacedInsideOfItsEpochWhereTheStepsTell(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		epoch         float64
		step          int
		epochs, steps int
		want          float64
	}{
		"before the first progress":      {2, 30, 0, 0, 2},
		"a step that is not known":       {2, 0, 4, 100, 2},
		"a fraction that is known":       {1.5, 30, 4, 100, 1.5},
		"in the middle of the epoch":     {2, 38, 4, 100, 1.52},
		"at the end of the epoch":        {2, 50, 4, 100, 2},
		"at the beginning of the epoch":  {2, 25, 4, 100, 2},
		"a step of another epoch before": {3, 10, 4, 100, 3},
		"a step of another epoch behind": {1, 90, 4, 100, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.InDelta(t, tc.want, results.Event{Epoch: tc.epoch, Step: tc.step}.Evaluated(tc.epochs, tc.steps), 1e-12)
		})
	}
}

func TestSecondsNeverOverflow(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[float64]time.Duration{0: 0, 1.5: 1500 * time.Millisecond, -3: 0, math.Inf(-1): 0, 1e-9: time.Nanosecond} {
		require.Equal(t, want, results.Seconds(seconds), "%g", seconds)
	}
	for _, seconds := range []float64{1e12, 1e308, math.Inf(1), math.MaxInt64} {
		require.Greater(t, results.Seconds(seconds), 100*365*24*time.Hour, "%g", seconds)
	}
	eta := 1e308
	require.Positive(t, results.Event{ETASeconds: &eta}.ETA())
	require.Zero(t, results.Event{}.ETA())
}
