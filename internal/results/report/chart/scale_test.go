package chart

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireTicks checks what the ticks of every axis promise: they rise, they lie on the axis, and there are few of them.
func requireTicks(t *testing.T, got []float64, low, high float64, n int) {
	t.Helper()
	require.LessOrEqual(t, len(got), 2*n+1, "from %g to %g", low, high)
	room := 1e-9 * (high - low) // the last digit of a product may be off
	for i, v := range got {
		require.False(t, math.IsNaN(v) || math.IsInf(v, 0), "from %g to %g", low, high)
		require.GreaterOrEqual(t, v, low-room)
		require.LessOrEqual(t, v, high+room)
		if i > 0 {
			require.Greater(t, v, got[i-1], "from %g to %g: %v", low, high, got)
		}
	}
}

func TestTicksLieOnTheirAxisAndCoverMostOfIt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ low, high float64 }{
		"a share":                     {0, 1},
		"a loss":                      {0.137, 2.914},
		"only negative numbers":       {-17, -4},
		"both sides of zero":          {-0.3, 0.8},
		"a tiny span":                 {1, 1 + 1e-9},
		"a tiny number":               {0, 9.5e-300},
		"a huge number":               {0, 1e300},
		"from one end to the other":   {-1e300, 1e300},
		"years":                       {1987, 2026},
		"one more than a round span":  {0, 10.000001},
		"one less than a round span":  {0, 9.999999},
		"a span that is a power of 2": {0, 1 << 40},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{1, 2, 4, 5, 6, 8} {
				got := niceTicks(tc.low, tc.high, n)
				requireTicks(t, got, tc.low, tc.high, n)
				if n < 4 {
					continue
				}
				require.GreaterOrEqual(t, len(got), 2, "an axis with one number says nothing about its scale")
				covered := got[len(got)-1] - got[0]
				require.Greater(t, covered, 0.33*(tc.high-tc.low), "%v", got)
			}
		})
	}
}

func TestTheStepOfTheTicksIsRound(t *testing.T) {
	t.Parallel()
	for _, high := range []float64{0.003, 0.07, 0.9, 1.3, 2.6, 7, 11, 49, 123, 8_000, 65_000, 1.1e6} {
		got := niceTicks(0, high, 5)
		require.GreaterOrEqual(t, len(got), 3, "up to %g", high)
		step := got[1] - got[0]
		first := step / math.Pow(10, math.Floor(math.Log10(step)+1e-9))
		require.True(t, slices.ContainsFunc([]float64{1, 2, 5}, func(round float64) bool { return math.Abs(first-round) < 1e-6 }), "up to %g: step %g", high, step)
		require.Zero(t, got[0], "zero is named where it is on the axis")
	}
}

func TestNoTickIsNamedTwiceWhereNumbersAreTooLargeToCount(t *testing.T) {
	t.Parallel()
	for _, low := range []float64{1e16, 1e17, 1e20, -1e20} {
		high := math.Nextafter(math.Nextafter(low, math.Inf(1)), math.Inf(1))
		requireTicks(t, niceTicks(low, high, 6), low, high, 6)
	}
}

func TestTicksOfEpochsAreWhole(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		epochs float64
		want   []float64
	}{
		"a part of an epoch": {0.4, []float64{0}},
		"one epoch":          {1, []float64{0, 1}},
		"an epoch and more":  {1.5, []float64{0, 1}},
		"a few epochs":       {4, []float64{0, 1, 2, 3, 4}},
		"some epochs":        {10, []float64{0, 2, 4, 6, 8, 10}},
		"very many epochs":   {1_000_000, []float64{0, 200_000, 400_000, 600_000, 800_000, 1_000_000}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, epochTicks(tc.epochs))
		})
	}
}

func TestTicksThatDifferHaveLabelsThatDiffer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		values []float64
		want   []string
	}{
		"nothing":              {nil, []string{}},
		"usual numbers":        {[]float64{0, 0.2, 0.4}, []string{"0", "0.2", "0.4"}},
		"six digits":           {[]float64{250_000, 250_500}, []string{"250000", "250500"}},
		"seconds since 1970":   {[]float64{1_700_000_000, 1_700_000_005}, []string{"1700000000", "1700000005"}},
		"a loss that is flat":  {[]float64{0.69314710, 0.69314720}, []string{"0.6931471", "0.6931472"}},
		"small numbers":        {[]float64{2e-5, 4e-5}, []string{"2e-05", "4e-05"}},
		"far too many digits":  {[]float64{1, 1 + 1e-15}, []string{"1", "1"}},
		"the same number once": {[]float64{7}, []string{"7"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, tickLabels(tc.values))
		})
	}
}

func TestASpanIsNeverEmptyAndHoldsAllValues(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][][]Point{
		"nothing":            {},
		"empty lines":        {nil, {}},
		"one point":          {{{1, 3}}},
		"one value":          {{{1, 3}, {2, 3}}, {{1, 3}}},
		"zero":               {{{1, 0}}},
		"negative":           {{{1, -5}, {2, -4}}},
		"one huge value":     {{{1, 1e300}}},
		"both huge":          {{{1, -1e300}, {2, 1e300}}},
		"tiny beside nought": {{{1, 0}, {2, 1e-12}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			low, high := span(lines...)
			require.Less(t, low, high)
			require.False(t, math.IsInf(high-low, 0))
			for _, line := range lines {
				for _, p := range line {
					require.Greater(t, p.Y, low)
					require.Less(t, p.Y, high)
				}
			}
		})
	}
}

func TestTenthRoundsToATenth(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]float64{0: 0, 0.04: 0, 0.05: 0.1, 1.26: 1.3, 99.96: 100, -0.26: -0.3, -7: -7, -1.94: -1.9} {
		require.InDelta(t, want, Tenth(v), 1e-12, "%g", v)
	}
}

func TestSmallLossesKeepTheirDigits(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]float64{
		0: 0, 0.5: 0.5, 0.123456: 0.1235, 2.718281: 2.7183, 12345.67891: 12345.6789,
		0.012345678: 0.01235, 0.0000123456: 0.00001235, -0.0000123456: -0.00001235, 1e-300: 1e-300,
	} {
		require.InDelta(t, want, roundLoss(v), 1e-9*math.Abs(want), "%g", v)
	}
}

func FuzzTicks(f *testing.F) {
	f.Add(0.0, 1.0)
	f.Add(-1e300, 1e300)
	f.Add(1e17, 1e17+16)
	f.Add(5e-324, 1e-300)
	f.Add(-3.5, 1e-9)
	f.Fuzz(func(t *testing.T, a, b float64) {
		if math.IsNaN(a) || math.IsNaN(b) || math.Abs(a) > 1e300 || math.Abs(b) > 1e300 {
			return // the decoders refuse such numbers
		}
		low, high := span([]Point{{0, a}, {1, b}})
		for _, n := range []int{1, 5, 8} {
			got := niceTicks(low, high, n)
			requireTicks(t, got, low, high, n)
			require.Len(t, tickLabels(got), len(got))
		}
		epochs := epochTicks(math.Abs(a))
		require.NotEmpty(t, epochs)
		for _, v := range epochs {
			require.Zero(t, v-math.Trunc(v))
		}
	})
}
