package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/cmd/extractor/machine"
	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
)

func TestTheEndOfALocalJobIsTheExitCode(t *testing.T) {
	t.Parallel()
	ending := func(state job.State, badInput bool) *job.Ending {
		return &job.Ending{State: state, Text: "the reason", BadInput: badInput}
	}
	for name, tc := range map[string]struct {
		ending *job.Ending
		keep   bool
		kind   job.Kind
		error  string
		stdout string
		kept   bool
	}{
		"success removes the run folder":                   {ending: ending(job.Done, false)},
		"success with --keep prints the run folder":        {ending: ending(job.Done, false), keep: true, stdout: "The run folder is ", kept: true},
		"bad input is permanent":                           {ending: ending(job.Failed, true), kind: job.KindPermanent, error: "the reason"},
		"a cancelled job is an error":                      {ending: ending(job.Cancelled, false), error: "the reason"},
		"a failure shows the end of the log":               {ending: ending(job.Failed, false), error: "the reason\nValueError: x", kept: true},
		"an interrupt before the training stopped says so": {error: "interrupted before the training had stopped", kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shared := volume.Volume{Dir: t.TempDir()}
			folder := shared.Run("ft-one").Path()
			require.NoError(t, os.MkdirAll(folder, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(folder, "log.txt"), []byte("ValueError: x\n"), 0o600))
			var out bytes.Buffer
			err := (&program{stdout: &out}).exitFor(job.Record{Run: "ft-one", Ending: tc.ending}, shared, tc.keep)
			if tc.error == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tc.error)
				kind, _ := job.Classify(err)
				require.Equal(t, tc.kind == job.KindPermanent, kind == job.KindPermanent, "%v", err)
			}
			require.Contains(t, out.String(), tc.stdout)
			if tc.kept {
				require.DirExists(t, folder)
			} else {
				require.NoDirExists(t, folder)
			}
		})
	}
}

func TestParametersOfTheCommandLine(t *testing.T) {
	t.Parallel()
	got, err := parameters([]string{"epochs=3", "more_options=a: b=c", "run_name="})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"epochs": "3", "more_options": "a: b=c", "run_name": ""}, got)
	for _, pair := range []string{"epochs", "=3", ""} {
		_, err := parameters([]string{pair})
		require.ErrorContains(t, err, "must have the form key=value")
	}
}

func TestADatasetIsNamedAfterItsFolder(t *testing.T) {
	t.Parallel()
	dir, err := os.Getwd()
	require.NoError(t, err)
	require.Equal(t, filepath.Base(dir), datasetName("."))
	require.Equal(t, "films", datasetName("/data/films/"))
}

func TestOnlyTheDefaultLevelIsRaisedBesideAProgressBar(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]string{"info": "warn", "debug": "debug", "warn": "warn", "error": "error"} {
		require.Equal(t, want, quietLevel(level), level)
	}
}

func TestALocalRunWithoutAPythonNamesTheRemedy(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"run": {"run", t.TempDir(), "--out", t.TempDir()}, "predict": {"predict", t.TempDir(), "--out", t.TempDir()},
		"ray up": {"ray", "up", "--dir", t.TempDir()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, _, stderr := execute(t, t.TempDir(), append(args, "--ray-python", "/no/such/python")...)
			require.Equal(t, exitFailed, code)
			require.Contains(t, stderr, "/no/such/python")
			require.Contains(t, stderr, machine.Remedy)
		})
	}
}

func TestATrainingOnThisMachineSeesTheModelsOfBaseModels(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		command string
		models  string
		want    string
	}{
		"of a run":                               {command: "run", models: "/opt/models", want: "/opt/models"},
		"of a run on a Ray of this machine":      {command: "run on Ray", models: "/opt/models", want: "/opt/models"},
		"of a run with several workers":          {command: "run of two", models: "/opt/models", want: "/opt/models"},
		"of a Ray for development":               {command: "ray", models: "/opt/models", want: "/opt/models"},
		"a relative folder is made absolute":     {command: "run", models: "models", want: filepath.Join(here, "models")},
		"without the variable there are no more": {command: "run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			seen, python := filepath.Join(dir, "seen"), filepath.Join(dir, "python")
			syscall.ForkLock.RLock()                                                          // a child that has the file open for writing would keep it from being run
			err := os.WriteFile(python, []byte("#!/bin/sh\nenv > "+seen+"\nexit 3\n"), 0o700) // ends at once, in the place of the training and of Ray
			syscall.ForkLock.RUnlock()
			require.NoError(t, err)
			data, _ := dataset(t)
			training := []string{"run", data, "--out", filepath.Join(dir, "out"), "--max-attempts", "1"}
			args := map[string][]string{
				"run": training, "run of two": append(training, "--param", "num_workers=2"), "run on Ray": append(training, "--ray", rayOfMachine), "ray": {"ray", "up", "--dir", filepath.Join(dir, "ray")},
			}[tc.command]
			var out bytes.Buffer
			code := run(t.Context(), append(args, "--ray-python", python), []string{baseModels + "=" + tc.models, "STATE_KEY=secret"}, &out, &out)
			require.Equal(t, exitFailed, code, out.String())
			env, err := os.ReadFile(seen)
			require.NoError(t, err, out.String())
			if tc.want == "" {
				require.NotContains(t, string(env), baseModels)
			} else {
				require.Contains(t, string(env), baseModels+"="+tc.want+"\n")
			}
			require.NotContains(t, string(env), "STATE_KEY")
			require.Equal(t, strings.HasPrefix(tc.command, "run o"), strings.Contains(out.String(), "Starting a local Ray"), out.String())
		})
	}
}

func TestTheLocalPython(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	install := func(name string, age time.Duration, ready bool) string {
		python := filepath.Join(cache, "clowder-ray", name, "bin", "python")
		require.NoError(t, os.MkdirAll(filepath.Dir(python), 0o700))
		require.NoError(t, os.WriteFile(python, []byte("#!/bin/sh\n"), 0o700))
		if marker := filepath.Join(cache, "clowder-ray", name, "core"); ready {
			require.NoError(t, os.WriteFile(marker, nil, 0o600))
			require.NoError(t, os.Chtimes(marker, time.Time{}, time.Now().Add(-age)))
		}
		return python
	}
	set := settings.Settings{RayPython: settings.DefaultPython}
	require.Equal(t, settings.DefaultPython, localPython(set), "nothing is installed")
	install("venv-broken", 0, false)
	require.Equal(t, settings.DefaultPython, localPython(set), "the installation is not complete")
	install("venv-old", time.Hour, true)
	newest := install("venv-new", time.Minute, true)
	require.Equal(t, newest, localPython(set))
	set.RayPython = "/opt/python"
	require.Equal(t, "/opt/python", localPython(set), "RAY_PYTHON overrides it")
}

func TestStoppingALocalRayThatDoesNotRunIsNoError(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := execute(t, t.TempDir(), "ray", "down")
	require.Zero(t, code, stderr)
	require.Empty(t, stdout)
}
