package rayjob_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

func TestRunName(t *testing.T) {
	t.Parallel()
	name := rayjob.RunName("https://clowder.example.org", "ncsa.ray.finetune", "65a1")
	require.Equal(t, name, rayjob.RunName("https://clowder.example.org", "ncsa.ray.finetune", "65a1"), "the name never changes")
	require.Equal(t, "ft-cczhkzrdzuicflkzxzz2", name, "jobs of an older version keep their names")
	require.Regexp(t, `^ft-[a-z2-7]{20}$`, name)
	names := map[string]bool{}
	for _, parts := range [][3]string{{"a", "b", "c"}, {"ab", "", "c"}, {"a", "bc", ""}, {"", "ab", "c"}, {"a\x00b", "", "c"}, {"", "", ""}} {
		names[rayjob.RunName(parts[0], parts[1], parts[2])] = true
	}
	require.Len(t, names, 6, "parts are kept apart")
}

func good() rayjob.Attempt {
	return rayjob.Attempt{Run: "ft-abc", Number: 2, Dir: "/shared/runs/ft-abc", TrainerPath: "/shared/trainer/1f", Python: "python3", Reads: []string{"models", "registry/local/films/1/model"}}
}

func TestAttempt(t *testing.T) {
	t.Parallel()
	a := good()
	a.Env, a.Metadata = map[string]string{"HF_HUB_OFFLINE": "0", "A": "b"}, map[string]string{"dataset": "d"}
	require.NoError(t, a.Check())
	require.Equal(t, "ft-abc-a2", a.Name())
	require.Equal(t, "python3 -m trainer run /shared/runs/ft-abc/spec.json", a.Entrypoint())
	require.Equal(t, map[string]string{"dataset": "d", rayjob.LabelRun: "ft-abc", rayjob.LabelAttempt: "2"}, a.Labels())
	require.Equal(t, map[string]string{"dataset": "d"}, a.Metadata, "what the caller gave stays as it was")
	env := a.Environment()
	require.Equal(t, "/shared/trainer/1f", env["PYTHONPATH"])
	require.Equal(t, "0", env["HF_HUB_OFFLINE"], "the caller's value wins")
	require.Equal(t, "30", env["RAY_JOB_STOP_WAIT_TIME_S"])
	require.NotContains(t, env, "WARM_WORKERS")
	a.Warm = 3
	require.Equal(t, "3", a.Environment()["WARM_WORKERS"])
	a.Script = true
	require.NotContains(t, a.Environment(), "WARM_WORKERS", "code of a user never runs in a warm process")
	a.TrainerPath = ""
	require.NotContains(t, a.Environment(), "PYTHONPATH")
}

func TestAttemptThatAShellCouldMisread(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*rayjob.Attempt){
		"no run":                              func(a *rayjob.Attempt) { a.Run = "" },
		"a run with a capital":                func(a *rayjob.Attempt) { a.Run = "Ft-abc" },
		"a run that is too long":              func(a *rayjob.Attempt) { a.Run = strings.Repeat("a", 41) },
		"attempt 0":                           func(a *rayjob.Attempt) { a.Number = 0 },
		"a relative folder":                   func(a *rayjob.Attempt) { a.Dir = "runs/x" },
		"a blank":                             func(a *rayjob.Attempt) { a.Dir = "/shared/my runs" },
		"a semicolon":                         func(a *rayjob.Attempt) { a.Dir = "/shared;id" },
		"a variable":                          func(a *rayjob.Attempt) { a.Dir = "/shared/$HOME" },
		"a backtick":                          func(a *rayjob.Attempt) { a.Dir = "/shared/`id`" },
		"a quote":                             func(a *rayjob.Attempt) { a.Dir = "/shared/'x" },
		"a tilde":                             func(a *rayjob.Attempt) { a.Dir = "~/x" },
		"a new line":                          func(a *rayjob.Attempt) { a.Dir = "/shared\nid" },
		"a trailing new line":                 func(a *rayjob.Attempt) { a.Dir = "/shared\n" },
		"a wildcard":                          func(a *rayjob.Attempt) { a.Dir = "/shared/*" },
		"no interpreter":                      func(a *rayjob.Attempt) { a.Python = "" },
		"an interpreter and more":             func(a *rayjob.Attempt) { a.Python = "python -i" },
		"an interpreter that is an option":    func(a *rayjob.Attempt) { a.Python = "-c" },
		"an interpreter that is assigned":     func(a *rayjob.Attempt) { a.Python = "A=b" },
		"several faults":                      func(a *rayjob.Attempt) { a.Python, a.Dir = "", "" },
		"an interpreter in a relative folder": func(a *rayjob.Attempt) { a.Python = "bin/python" },
		"a trainer in two folders, one bad":   func(a *rayjob.Attempt) { a.TrainerPath = "/a:/b c" },
		"a read above the volume":             func(a *rayjob.Attempt) { a.Reads = []string{"models", "../etc"} },
		"a read that leads out on its way":    func(a *rayjob.Attempt) { a.Reads = []string{"registry/../../etc"} },
		"an absolute read":                    func(a *rayjob.Attempt) { a.Reads = []string{"/etc"} },
		"a read of the whole volume":          func(a *rayjob.Attempt) { a.Reads = []string{"."} },
		"a read of nothing":                   func(a *rayjob.Attempt) { a.Reads = []string{""} },
		"a read with a variable":              func(a *rayjob.Attempt) { a.Reads = []string{"registry/$(A)"} },
		"a variable that is no name":          func(a *rayjob.Attempt) { a.Env = map[string]string{"A B": "c"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := good()
			change(&a)
			err := a.Check()
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind, "%v", err)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestVerdictsThatAreEnds(t *testing.T) {
	t.Parallel()
	for verdict, want := range map[rayjob.Verdict]bool{
		rayjob.Pending: false, rayjob.Running: false, rayjob.Succeeded: true, rayjob.Failed: true, rayjob.Stopped: true, rayjob.Lost: true,
		"": false, "paused": false,
	} {
		require.Equal(t, want, verdict.Terminal(), verdict)
	}
}

func TestLastError(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ log, want string }{
		"nothing":                {"", ""},
		"only blank lines":       {"\n \n\t\r\n", ""},
		"the last line":          {"step 1\nno label column\n", "no label column"},
		"the end of a traceback": {"Traceback (most recent call last):\n  File \"x.py\", line 1\n    f()\n    ^^^\nValueError: no label\n", "ValueError: no label"},
		"the end of a traceback, and what is printed after it": {
			"Traceback (most recent call last):\n  File \"x.py\", line 1\nValueError: no label\nshutting down\n2026-01-02 03:04:05 INFO bye\n", "ValueError: no label",
		},
		"an error of a module":              {"torch.OutOfMemoryError: CUDA out of memory\n", "torch.OutOfMemoryError: CUDA out of memory"},
		"a line of a worker, in colours":    {"\x1b[36m(RayTrainWorker pid=12, ip=10.0.0.3)\x1b[0m RuntimeError: bad\n", "RuntimeError: bad"},
		"a traceback of a worker":           {"(W pid=1)   File \"x.py\", line 2\n(W pid=1) KeyError: 'text'\n(W pid=1)     indented\n", "KeyError: 'text'"},
		"a program's line before log lines": {"cannot read data.csv\n2026-01-02 03:04:05,678\tINFO a.py:1 -- x\nINFO: y\n", "cannot read data.csv"},
		"only log lines":                    {"2026-01-02 03:04:05,678\tWARNING a.py:1 -- x\n", "2026-01-02 03:04:05,678 WARNING a.py:1 -- x"},
		"broken bytes":                      {"bad \xff\x00 byte\n", "bad byte"},
		"what Ray itself prints first":      {"2026-01-02 03:04:05,678\tINFO job_manager.py:581 -- Runtime env is setting up.\nRunning entrypoint for job x: python -m trainer\n", ""},
		"a traceback without its end":       {"Traceback (most recent call last):\n  File \"x.py\", line 1\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, rayjob.LastError(tc.log))
		})
	}
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text  string
		limit int
		want  string
	}{
		"as it is":       {"abc", 3, "abc"},
		"cut":            {"abcd", 3, "ab…"},
		"cut at a blank": {"ab cd", 4, "ab…"},
		"blanks":         {"  a \t\n b  ", 9, "a b"},
		"to nothing":     {"abc", 0, ""},
		"to an ellipsis": {"abc", 1, "…"},
		"characters":     {"äöü", 3, "äöü"},
		"invisible":      {"a\u200b\u202eb", 9, "ab"},
		"colours":        {"\x1b[1;31ma\x1b[0m", 9, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, rayjob.OneLine(tc.text, tc.limit))
		})
	}
}

func FuzzLastError(f *testing.F) {
	f.Add("Traceback (most recent call last):\n  File \"x\"\nValueError: \x1b[31mx\n")
	f.Add("(a pid=1) (b pid=2) x\r\n\r\n")
	f.Add(strings.Repeat("é ", 500))
	f.Fuzz(func(t *testing.T, log string) {
		line := rayjob.LastError(log)
		require.LessOrEqual(t, utf8.RuneCountInString(line), rayjob.MaxReason)
		require.False(t, strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }), "%q", line)
		require.Equal(t, line, rayjob.OneLine(line, rayjob.MaxReason), "cleaning twice changes nothing")
	})
}

func TestTheRunOfAnAttemptIsReadFromItsName(t *testing.T) {
	t.Parallel()
	run := rayjob.RunName("a", "b", "c")
	got, ok := rayjob.RunOf(rayjob.Attempt{Run: run, Number: 12}.Name())
	require.True(t, ok)
	require.Equal(t, run, got)
	for _, name := range []string{"", run, run + "-a", run + "-ax", "raysubmit_1a2b", "-a1"} {
		_, ok := rayjob.RunOf(name)
		require.False(t, ok, name)
	}
}
