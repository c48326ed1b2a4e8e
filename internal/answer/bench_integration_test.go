//go:build integration

package answer_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/answer"
	"github.com/ncsa/clowder-ray/internal/answer/answertest"
)

// BenchmarkAnswer measures one text at a time from request to answer with a network of the shape of BERT-tiny: warm, and the first answer
// of a process that has to be started.
func BenchmarkAnswer(b *testing.B) {
	python := answertest.Python(b)
	s := answertest.NewVolume(b, python)
	files, lines := reviews(b)
	trained := s.Train(b, dataset, "reviews", "ft-network", files, map[string]any{"model": "bert-tiny", "epochs": 1, "max_length": 64})
	ask := func(c *answer.Client, i int) time.Duration {
		began := time.Now()
		_, err := c.Infer(b.Context(), model(trained.Version), []answer.Tensor{texts(lines[1+i%(len(lines)-1)])})
		require.NoError(b, err)
		return time.Since(began)
	}
	b.Run("warm", func(b *testing.B) {
		c := client(b, s, python, 0)
		ask(c, 0)
		var took []time.Duration
		for i := 0; b.Loop(); i++ {
			took = append(took, ask(c, i))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	})
	b.Run("after sleep", func(b *testing.B) {
		for range min(b.N, 10) {
			c := client(b, s, python, 0)
			took := ask(c, 0)
			require.NoError(b, c.Close())
			b.ReportMetric(took.Seconds(), "s/start")
		}
	})
}
