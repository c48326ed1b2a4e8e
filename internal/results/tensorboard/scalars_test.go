package tensorboard_test

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ncsa/clowder-ray/internal/results/tensorboard"
)

// message puts fields together, each of them encoded.
func message(fields ...[]byte) []byte {
	var doc []byte
	for _, f := range fields {
		doc = append(doc, f...)
	}
	return doc
}

func varint(id protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, id, protowire.VarintType), v)
}

func fixed32(id protowire.Number, v float32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(nil, id, protowire.Fixed32Type), math.Float32bits(v))
}

func fixed64(id protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, id, protowire.Fixed64Type), math.Float64bits(v))
}

func nested(id protowire.Number, doc []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, id, protowire.BytesType), doc)
}

// summary is an Event of that step with values.
func summary(step int64, values ...[]byte) []byte {
	var all []byte
	for _, v := range values {
		all = append(all, nested(1, v)...)
	}
	return message(fixed64(1, 100), varint(2, uint64(step)), nested(5, all))
}

// tensor is a value of that tag with a TensorProto.
func tensor(tag string, fields ...[]byte) []byte {
	return message(nested(1, []byte(tag)), nested(8, message(fields...)))
}

// read returns the curves of a file of those events.
func read(t *testing.T, events ...[]byte) ([]tensorboard.Curve, tensorboard.Limits) {
	t.Helper()
	logs, limits := tensorboard.Read([]tensorboard.File{file("run/events.out.tfevents.1", written(events...))})
	if len(logs) == 0 {
		return nil, limits
	}
	require.Len(t, logs, 1)
	return logs[0].Curves, limits
}

func TestATensorOfOneNumberIsReadInEveryForm(t *testing.T) {
	t.Parallel()
	shape := func(sizes ...uint64) []byte {
		var dims []byte
		for _, size := range sizes {
			dims = append(dims, nested(2, varint(1, size))...)
		}
		return nested(2, dims)
	}
	for name, tc := range map[string]struct {
		tensor []byte
		want   float64
		none   bool
	}{
		"a float of its own":           {tensor: tensor("x", fixed32(5, 1.5)), want: 1.5},
		"a double of its own":          {tensor: tensor("x", fixed64(6, 2.5)), want: 2.5},
		"a whole number of its own":    {tensor: tensor("x", varint(7, 3)), want: 3},
		"a number below zero":          {tensor: tensor("x", varint(10, math.MaxUint64)), want: -1},
		"a packed float":               {tensor: tensor("x", nested(5, fixed32(1, 4)[1:])), want: 4},
		"a packed whole number":        {tensor: tensor("x", nested(10, varint(1, 300)[1:])), want: 300},
		"a shape of one":               {tensor: tensor("x", shape(1, 1), fixed32(5, 1.5)), want: 1.5},
		"a shape without sides":        {tensor: tensor("x", shape(), fixed32(5, 1.5)), want: 1.5},
		"content of a float":           {tensor: tensor("x", varint(1, 1), nested(4, fixed32(1, 6)[1:])), want: 6},
		"content of a double":          {tensor: tensor("x", varint(1, 2), nested(4, fixed64(1, 7)[1:])), want: 7},
		"two packed floats":            {tensor: tensor("x", nested(5, make([]byte, 8))), none: true},
		"two packed whole numbers":     {tensor: tensor("x", nested(7, []byte{1, 2})), none: true},
		"no packed number":             {tensor: tensor("x", nested(7, nil)), none: true},
		"a shape of two":               {tensor: tensor("x", shape(2), fixed32(5, 1.5)), none: true},
		"a shape of nothing":           {tensor: tensor("x", shape(0), fixed32(5, 1.5)), none: true},
		"a shape of one row of two":    {tensor: tensor("x", shape(1, 2), fixed32(5, 1.5)), none: true},
		"content of a text":            {tensor: tensor("x", varint(1, 7), nested(4, []byte("text"))), none: true},
		"content of two floats":        {tensor: tensor("x", varint(1, 1), nested(4, make([]byte, 8))), none: true},
		"nothing":                      {tensor: tensor("x"), none: true},
		"no tag":                       {tensor: tensor("", fixed32(5, 1.5)), none: true},
		"bytes that are no tensor":     {tensor: message(nested(1, []byte("x")), nested(8, []byte{0xff})), none: true},
		"a value without tensor":       {tensor: nested(1, []byte("x")), none: true},
		"a value that is no message":   {tensor: []byte{0xff, 0xff}, none: true},
		"a simple value":               {tensor: message(nested(1, []byte("x")), fixed32(2, 8)), want: 8},
		"a simple value before a text": {tensor: message(nested(1, []byte("x")), fixed32(2, 8), nested(9, []byte("metadata"))), want: 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			curves, limits := read(t, summary(5, tc.tensor))
			require.Zero(t, limits, "what is no scalar is no damage")
			if tc.none {
				require.Empty(t, curves)
				return
			}
			require.Equal(t, []tensorboard.Curve{{Tag: "x", Points: []tensorboard.Point{{Step: 5, Value: tc.want, Wall: 100}}}}, curves)
		})
	}
}

func TestNumbersThatCannotBeDrawnAreCounted(t *testing.T) {
	t.Parallel()
	events := [][]byte{scalar(1, 1, "loss", 3)}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e301, -1e301} {
		events = append(events, summary(2, tensor("loss", fixed64(6, v))))
	}
	events = append(events, summary(3, tensor("loss", fixed64(6, 1e300))), summary(1, tensor("broken", fixed64(6, math.NaN()))))
	curves, limits := read(t, events...)
	require.Zero(t, limits)
	require.Equal(t, []tensorboard.Curve{
		{Tag: "broken", NotFinite: 1},
		{Tag: "loss", NotFinite: 5, Points: []tensorboard.Point{{Step: 1, Value: 3, Wall: 1}, {Step: 3, Value: 1e300, Wall: 100}}},
	}, curves, "a curve of such numbers alone is named, too")
}

func TestOfSeveralValuesOfAStepTheNewestStays(t *testing.T) {
	t.Parallel()
	curves, _ := read(t, scalar(1, 5, "loss", 1), scalar(2, 3, "loss", 2), scalar(3, 5, "loss", 3), scalar(4, -2, "loss", 4), scalar(5, 5, "loss", 5))
	require.Equal(t, []tensorboard.Point{{Step: -2, Value: 4, Wall: 4}, {Step: 3, Value: 2, Wall: 2}, {Step: 5, Value: 5, Wall: 5}}, curves[0].Points)
}

func TestATimeThatIsNoneIsNotKnown(t *testing.T) {
	t.Parallel()
	for _, wall := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		curves, limits := read(t, scalar(wall, 1, "loss", 2))
		require.Zero(t, limits)
		require.Equal(t, []tensorboard.Point{{Step: 1, Value: 2}}, curves[0].Points)
	}
}

func TestANameWithoutAnEndIsLeftOut(t *testing.T) {
	t.Parallel()
	curves, limits := read(t, scalar(1, 1, strings.Repeat("x", 200), 1), scalar(1, 1, strings.Repeat("y", 201), 1))
	require.Len(t, curves, 1)
	require.Equal(t, tensorboard.Limits{Tags: true}, limits)
}

// TestAProgramThatGoesOnMakesLaterStepsVoid: it says at which step it goes on, and that holds for tags that it has not written yet.
func TestAProgramThatGoesOnMakesLaterStepsVoid(t *testing.T) {
	t.Parallel()
	start := func(wall float64, step uint64) []byte {
		return message(fixed64(1, wall), varint(2, step), nested(7, varint(1, 1)))
	}
	first := file("a/tfevents.1", written(scalar(1, 1, "loss", 1), scalar(2, 2, "loss", 1), scalar(3, 3, "loss", 1), scalar(3, 3, "eval", 1)))
	for name, tc := range map[string]struct {
		second []byte
		want   map[string][]int64
	}{
		"it goes on at step 2":         {start(10, 2), map[string][]int64{"loss": {1}}},
		"it goes on where it ended":    {start(10, 4), map[string][]int64{"loss": {1, 2, 3}, "eval": {3}}},
		"it begins again":              {start(10, 0), nil},
		"it ended, which says nothing": {message(fixed64(1, 10), varint(2, 2), nested(7, varint(1, 2))), map[string][]int64{"loss": {1, 2, 3}, "eval": {3}}},
		"it was started earlier":       {start(0.5, 2), map[string][]int64{"loss": {1, 2, 3}, "eval": {3}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			logs, limits := tensorboard.Read([]tensorboard.File{first, file("a/tfevents.2", written(tc.second))})
			require.Zero(t, limits)
			var got map[string][]int64
			for _, l := range logs {
				got = map[string][]int64{}
				for _, c := range l.Curves {
					got[c.Tag] = steps(c.Points)
				}
			}
			require.Equal(t, tc.want, got)
		})
	}
}

func TestEventFilesAreKnownByTheirName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"out/events.out.tfevents.1764000000.host.1.0": true, "tfevents": true, "out/logs/run.tfevents.v2": true,
		"out/tfevents/notes.txt": false, "out/events.csv": false, "": false,
	} {
		require.Equal(t, want, tensorboard.IsFile(name), name)
	}
}

func TestABodyThatFailsHalfwayIsDamagedAndClosed(t *testing.T) {
	t.Parallel()
	body := &failing{Reader: io.MultiReader(strings.NewReader(string(written(scalar(1, 1, "loss", 3)))), errorReader{})}
	logs, limits := tensorboard.Read([]tensorboard.File{{Path: "a/tfevents", Open: func() (io.ReadCloser, error) { return body, nil }}})
	require.Equal(t, []int64{1}, steps(logs[0].Curves[0].Points), "what came before is kept")
	require.Equal(t, []string{"a/tfevents"}, limits.Damaged)
	require.True(t, body.closed)
}

// failing is a body that tells whether it was closed.
type failing struct {
	io.Reader
	closed bool
}

func (f *failing) Close() error {
	f.closed = true
	return nil
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }
