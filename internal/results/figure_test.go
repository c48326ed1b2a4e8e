package results_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

func TestFiguresOfOneMetricHaveTheSameDigits(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		metric string
		value  float64
		want   string
	}{
		{"accuracy", 0.9, "0.900"},
		{"accuracy", 1, "1.000"},
		{"mcc", -0.0002, "0.000"},
		{"r2", -1234.4, "-1,234"},
		{"rmse", 63, "63.00"},
		{"rmse", 3.0821, "3.082"},
		{"rmse", 0.01234, "0.01234"},
		{"rmse", 12345.6, "12,346"},
		{"rmse", 0, "0"},
		{"rmse", 1.2e-7, "1.2e-07"},
		{"rmse", 4.5e12, "4.5e+12"},
		{"loss", 0.6931, "0.693"},
	} {
		require.Equal(t, tc.want, results.Named(tc.metric).Figure(tc.value), "%s %g", tc.metric, tc.value)
	}
	require.Equal(t, "0.100–0.200", results.Named("accuracy").Interval(0.1, 0.2))
	require.Equal(t, "-0.159 to 0.000", results.Named("r2").Interval(-0.159, -0.0001), "a dash would read as one more minus")
}
