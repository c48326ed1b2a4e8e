//go:build integration

package e2e

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob/raylocal"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/test/stack"
)

// script trains nothing. It reads a file of the dataset and a module beside it, prints as trainings do, and leaves files.
const script = `
import argparse, json, os, time
import shape
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int)
parser.add_argument("--output_dir")
options = parser.parse_args()
rows = open("data/rows.csv").read().splitlines()
for epoch in range(options.epochs):
    print(f"epoch {epoch + 1}/{options.epochs}: train loss {shape.loss(epoch):.3f}", flush=True)
json.dump({"rows": len(rows)}, open(os.path.join(options.output_dir, "metrics.json"), "w"))
open(os.path.join(options.output_dir, "weights.bin"), "wb").write(b"\0" * 1000)
try:
    assert b"RAY_" not in open("/proc/1/environ", "rb").read()
except PermissionError:
    pass
assert not any(name.startswith(("RAY_", "CLOWDER_KEY")) for name in os.environ)
`

func TestAScriptOfAUserRunsInASandbox(t *testing.T) {
	python := raytest.Python(t)
	w := stack.NewFixture(t, stack.Program(t), map[string]string{
		"train.py": script, "shape.py": "def loss(epoch):\n    return 1 / (epoch + 1)\n", "data/rows.csv": "a\nb\nc\n",
		"requirements.txt": "numpy\nsome-package==1.0\n",
	})
	ray, err := raylocal.Start(t.Context(), raylocal.Config{Python: python, Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ray.Stop()) })
	w.Env["RAY_ADDRESS"], w.Env["RAY_AUTH_TOKEN_PATH"], w.Env["RAY_PYTHON"] = ray.Address, ray.TokenFile, python

	service := w.Start(t, nil)
	last, updates := w.AwaitJob(t, w.SubmitTo(t, stack.Scripter, w.Dataset, map[string]any{"arguments": "--epochs 4"}))
	require.Equal(t, "SUCCEEDED", last.Status, "%s\n%s", last.Message, service.Log())
	require.Contains(t, last.Message, "The script finished after")
	var told strings.Builder
	for _, u := range updates {
		told.WriteString(u.Text + "\n")
	}
	require.Contains(t, told.String(), "some-package is missing")
	require.Contains(t, told.String(), "train.py is started")
	require.Equal(t, job.Done, w.AwaitRecords(t, 1)[0].State)

	uploaded, err := w.Session.Files(t.Context(), w.Dataset)
	require.NoError(t, err)
	names := map[string]string{}
	for _, f := range uploaded {
		names[path.Base(f.Path)] = f.Path
	}
	for _, name := range []string{"report.html", "manifest.json", "log.txt"} {
		require.Contains(t, names, name)
	}
	w.RequireNoKey(t, service.Log(), last.Message, told.String())
}
