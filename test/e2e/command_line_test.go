//go:build integration

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/test/stack"
)

// TestTheCommandLineTrainsRepeatsAndPredictsWithoutRay: statuses name Ray where one is started.
func TestTheCommandLineTrainsRepeatsAndPredictsWithoutRay(t *testing.T) {
	python := raytest.Python(t)
	data, out := t.TempDir(), t.TempDir()
	rows := strings.Builder{}
	rows.WriteString("width,height,label\n")
	for i := range 120 {
		fmt.Fprintf(&rows, "%d,%d,%s\n", i%17, i%23, map[bool]string{true: "wide", false: "high"}[i%17 > i%23])
	}
	require.NoError(t, os.WriteFile(filepath.Join(data, "sizes.csv"), []byte(rows.String()), 0o600))
	program := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), stack.Program(t), append(args, "--ray-python", python)...)
		cmd.Env = append(os.Environ(), "RAY_ADDRESS=", "SHARED_DIR="+filepath.Join(out, "none"), "TMPDIR="+t.TempDir())
		text, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", text)
		return string(text)
	}
	first, again, answers := filepath.Join(out, "first"), filepath.Join(out, "again"), filepath.Join(out, "answers")
	said := program("run", data, "--out", first, "--param", "model=linear")
	require.NotContains(t, said, " Ray")
	require.Contains(t, program("run", data, "--out", again, "--from", filepath.Join(first, "manifest.json")), "The weights are the same as in run ")
	program("predict", data, "--model", filepath.Join(first, "model.zip"), "--out", answers)
	predictions, err := os.ReadFile(filepath.Join(answers, "predictions.csv"))
	require.NoError(t, err)
	require.Equal(t, 121, strings.Count(string(predictions), "\n"))
}
