package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
)

// TestWhatUsersWroteCannotChangeTheTerminal: the administrator looks at the jobs of everybody.
func TestWhatUsersWroteCannotChangeTheTerminal(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b]0;owned\x07\x1b[2J\u009b31m\u202ename\r"
	dir := withJobs(t, func(r *job.Record) error {
		r.LastError = hostile + "\nsecond line"
		r.Settings = job.NewSettings(map[string]any{"run_name": hostile, "more_options": "stride: 8\nnote: " + hostile, "epochs": 3})
		return nil
	}, "ft-one")
	code, list, stderr := execute(t, dir, "jobs", "list")
	require.Zero(t, code, stderr)
	require.Equal(t, 2, strings.Count(list, "\n"), "a note is one line: %s", list)
	require.Contains(t, list, "]0;owned [2J 31mname second line")
	code, show, stderr := execute(t, dir, "jobs", "show", "ft-one")
	require.Zero(t, code, stderr)
	require.Regexp(t, `more_options +stride: 8\nnote: \]0;owned`, show, "an option of several lines keeps them")
	for _, printed := range []string{list, show} {
		for _, bad := range []string{"\x1b", "\x07", "\r", "\u009b", "\u202e"} {
			require.NotContains(t, printed, bad)
		}
	}
}

func TestStatusesOfALocalRunAreLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := newConsole(&out)
	for _, s := range []message.Status{
		{Text: "Reading 2 files"}, {Text: "epoch 1 of 3", Progress: true}, {Text: "It failed", Kind: message.StatusError}, {Text: "Done"},
	} {
		require.NoError(t, c.Publish(t.Context(), job.Request{}, s))
	}
	c.watch("ft-one", results.Progress{Epoch: 1, Epochs: 3, Fraction: 0.5})
	c.finish()
	require.Regexp(t, `^ +\d+\.\d s  Reading 2 files\n +\d+\.\d s  epoch 1 of 3\n +\d+\.\d s  Done\n$`, out.String(), "the command prints an error at its end")
}

func TestOptionsOfARunAreWrittenAsMoreOptionsReadsThem(t *testing.T) {
	t.Parallel()
	for want, value := range map[string]any{
		"3": 3.0, "0.00001": 1e-5, "1000000000": 1e9, "true": true, "a b": "a b", "": "", "-0.5": -0.5,
	} {
		require.Equal(t, want, optionText(value))
	}
	require.Equal(t, "the model", madeBy(manifest.Manifest{}))
	require.Equal(t, "its files", madeBy(manifest.Manifest{Script: &manifest.Script{}}))
}

func TestFilesOfARepeatedScriptThatDifferWithoutACause(t *testing.T) {
	t.Parallel()
	old := oldRun("", nil)
	old.Kind, old.Model, old.Script = results.ResultScript, nil, &manifest.Script{Entry: "train.py", CodeSHA256: "c"}
	old.Outputs = []results.Output{{Path: "out/a.pt", SHA256: "1"}}
	made := old
	made.Outputs = []results.Output{{Path: "out/a.pt", SHA256: "2"}}
	var out bytes.Buffer
	p := &program{stdout: &out}
	require.NoError(t, p.compare(old, filepath.Dir(manifestOf(t, made))))
	require.Equal(t, "The files differ from run ft-old: a.pt. Differences:\n  no recorded difference: the script may write the time, or use numbers that it does not seed\n", out.String())
	require.Error(t, p.compare(old, t.TempDir()), "there is no manifest")

	for range 200 {
		made.Outputs = append(made.Outputs, results.Output{Path: "out/" + strings.Repeat("x", len(made.Outputs)), SHA256: "2"})
	}
	out.Reset()
	require.NoError(t, p.compareOutputs(old, made))
	require.Less(t, out.Len(), 600, "a long list of files is cut")
	require.Contains(t, out.String(), "…")
}

func TestAScriptOfTheCommandLine(t *testing.T) {
	t.Parallel()
	dir, _ := dataset(t)
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"arguments without a script": {[]string{"run", dir, "--out", "x", "--", "--lr=1"}, "arguments after -- are for a script: add --script FILE"},
		"two folders and a script":   {[]string{"run", dir, "b", "--out", "x", "--script", "auto", "--", "c"}, "usage: extractor run DATASET_DIR"},
		"a folder behind the dashes": {[]string{"run", "--out", "x", "--script", "auto", "--", dir}, "usage: extractor run DATASET_DIR"},
		"a script that is not there": {[]string{"run", dir, "--out", "x", "--script", "train.py"}, "there is no file train.py"},
		"a folder as a script":       {[]string{"run", dir, "--out", "x", "--script", "raw"}, "there is no file raw"},
		"a script without results":   {[]string{"run", dir, "--script", "auto"}, "--out is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, _, stderr := execute(t, t.TempDir(), tc.args...)
			require.Equal(t, exitBadInput, code, stderr)
			require.Contains(t, stderr, tc.want)
			require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
		})
	}
}
