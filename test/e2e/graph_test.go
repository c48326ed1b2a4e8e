//go:build integration

package e2e

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob/raylocal"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/test/stack"
)

// communities is a graph of nodes that mostly have edges within their own community, which their features tell with noise.
func communities(nodes, edges, groups int) map[string]string {
	r := rand.New(rand.NewPCG(1, 2))
	var list, described strings.Builder
	list.WriteString("source,target\n")
	for range edges {
		from := r.IntN(nodes)
		to := r.IntN(nodes)
		if r.Float64() < 0.9 {
			to = (to - to%groups + from%groups) % nodes
		}
		fmt.Fprintf(&list, "p%d,p%d\n", from, to)
	}
	described.WriteString("id,a,b,c\n")
	for node := range nodes {
		group := float64(node % groups)
		fmt.Fprintf(&described, "p%d,%.3f,%.3f,%.3f\n", node, group+r.NormFloat64(), group*group/4+r.NormFloat64(), r.NormFloat64())
	}
	return map[string]string{"edges.csv": list.String(), "nodes.csv": described.String()}
}

func TestAGraphIsTrainedAndAnswersForPairsOfNodes(t *testing.T) {
	python := raytest.Python(t)
	w := stack.NewFixture(t, stack.Program(t), communities(300, 1800, 5))
	ray, err := raylocal.Start(t.Context(), raylocal.Config{Python: python, Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ray.Stop()) })
	w.Env["RAY_ADDRESS"], w.Env["RAY_AUTH_TOKEN_PATH"], w.Env["RAY_PYTHON"] = ray.Address, ray.TokenFile, python

	service := w.Start(t, nil)
	last, updates := w.AwaitJob(t, w.Submit(t, w.Dataset, map[string]any{"epochs": 3, "more_options": "register_as: papers"}))
	require.Equal(t, "SUCCEEDED", last.Status, "%s\n%s", last.Message, service.Log())
	require.Regexp(t, `MRR 0\.\d+.* held-out edges`, last.Message)
	var told strings.Builder
	for _, u := range updates {
		told.WriteString(u.Text + "\n")
	}
	require.Contains(t, told.String(), "source and target of edges.csv are the two ends of edges", "the dataset is found to be a graph, and why")
	names := uploaded(t, w, w.Dataset)
	for _, name := range []string{"model.zip", "metrics.json", "predictions.csv", "predicted_links.csv", "embeddings.parquet", "report.html", "model_card.md", "embedding.png", "manifest.json"} {
		require.Contains(t, names, name)
	}

	asked := w.Clowder.AddDataset(stack.User, "Pairs")
	_, err = w.Clowder.AddFile(asked, "pairs.csv", strings.NewReader("source,target\np1,p6\np1,p7\np2,p12\n"))
	require.NoError(t, err)
	last, _ = w.AwaitJob(t, w.SubmitTo(t, stack.Predictor, asked, map[string]any{"model": "papers"}))
	require.Equal(t, "SUCCEEDED", last.Status, "%s\n%s", last.Message, service.Log())
	require.Contains(t, last.Message, "3 pairs of 1 file predicted with papers/1")
	require.Contains(t, uploaded(t, w, asked), "predictions.csv")
	for _, r := range w.AwaitRecords(t, 2) {
		require.Equal(t, job.Done, r.State)
	}
	w.RequireNoKey(t, service.Log(), last.Message, told.String())
}

// uploaded are the names of the files of a dataset.
func uploaded(t *testing.T, w *stack.Fixture, dataset string) map[string]bool {
	t.Helper()
	files, err := w.Session.Files(t.Context(), dataset)
	require.NoError(t, err)
	names := map[string]bool{}
	for _, f := range files {
		names[path.Base(f.Path)] = true
	}
	return names
}
