package rayjob_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

func TestAFailureIsExplainedInPlainWords(t *testing.T) {
	t.Parallel()
	const ended = "Job entrypoint command failed with exit code "
	const lines = "\nTraceback (most recent call last):\nValueError: no label column\n"
	for name, tc := range map[string]struct {
		failure rayjob.Failure
		want    string
	}{
		"nothing is known":                    {rayjob.Failure{}, "the training failed on the Ray cluster"},
		"a text that is not known":            {rayjob.Failure{Message: "The stars are wrong"}, "the training failed on the Ray cluster: The stars are wrong"},
		"an exit code in the message":         {rayjob.Failure{Message: ended + "3, last available logs:" + lines}, "the training program ended with exit code 3: ValueError: no label column"},
		"an exit code of its own":             {rayjob.Failure{Message: ended + "3" + lines, ExitCode: new(4)}, "the training program ended with exit code 4: ValueError: no label column"},
		"exit code 0 of a failed job":         {rayjob.Failure{ExitCode: new(0)}, "the training program ended with exit code 0"},
		"killed by the kernel":                {rayjob.Failure{Message: ended + "-9" + lines}, "the training was killed, probably because its node ran out of memory"},
		"killed in a shell":                   {rayjob.Failure{ExitCode: new(137)}, "the training was killed, probably because its node ran out of memory"},
		"terminated":                          {rayjob.Failure{ExitCode: new(-15)}, "the training was terminated by another process"},
		"terminated in a shell":               {rayjob.Failure{Message: ended + "143"}, "the training was terminated by another process"},
		"no interpreter":                      {rayjob.Failure{Message: ended + "127\nsh: python4: not found\n"}, "the Python interpreter of the training could not be started on the Ray cluster (exit code 127): sh: python4: not found"},
		"an interpreter that is no program":   {rayjob.Failure{ExitCode: new(126)}, "the Python interpreter of the training could not be started on the Ray cluster (exit code 126)"},
		"a code that is no number":            {rayjob.Failure{Message: ended + "99999999999999999999" + lines}, "the training failed on the Ray cluster: ValueError: no label column"},
		"no environment":                      {rayjob.Failure{ErrorType: "RUNTIME_ENV_SETUP_FAILURE", Message: "runtime_env setup failed: no space left\n"}, "Ray could not prepare the environment of the training: no space left"},
		"no resources in time":                {rayjob.Failure{ErrorType: "JOB_SUPERVISOR_ACTOR_START_TIMEOUT", Message: "RAY_INTERNAL"}, "the Ray cluster had no free resources to start the training in time"},
		"no node":                             {rayjob.Failure{ErrorType: "JOB_SUPERVISOR_ACTOR_UNSCHEDULABLE", Message: "x"}, "the Ray cluster has no node that can run the training"},
		"a lost node":                         {rayjob.Failure{ErrorType: "JOB_SUPERVISOR_ACTOR_DIED", Message: "x"}, "the node or the Ray process that ran the training was lost"},
		"a start that failed":                 {rayjob.Failure{ErrorType: "JOB_SUPERVISOR_ACTOR_START_FAILURE", Message: "Unexpected error occurred: disk full"}, "Ray could not start the training: disk full"},
		"a program that could not be started": {rayjob.Failure{ErrorType: "JOB_ENTRYPOINT_COMMAND_START_ERROR", Message: "no such file"}, "Ray could not start the training program: no such file"},
		"a kind that a later Ray brings":      {rayjob.Failure{ErrorType: "EATEN_BY_WHALES", Message: ended + "3" + lines}, "the training program ended with exit code 3: ValueError: no label column"},
		"colours and line ends":               {rayjob.Failure{Message: "\x1b[31mred\x1b[0m\r\n"}, "the training failed on the Ray cluster: red"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, tc.failure.Reason())
		})
	}
	long := rayjob.Failure{Message: ended + "1\n" + strings.Repeat("é", 5000)}.Reason()
	require.Equal(t, rayjob.MaxReason, utf8.RuneCountInString(long))
}

func TestAJobBelongsToAnAttemptByItsLabelsAndItsCommand(t *testing.T) {
	t.Parallel()
	a := good()
	for name, tc := range map[string]struct {
		run, number, entrypoint string
		want                    bool
	}{
		"its own":                    {a.Run, "2", a.Entrypoint(), true},
		"with another interpreter":   {a.Run, "2", "/opt/python" + strings.TrimPrefix(a.Entrypoint(), a.Python), true},
		"of another run":             {"ft-other", "2", a.Entrypoint(), false},
		"of another attempt":         {a.Run, "3", a.Entrypoint(), false},
		"a number in another form":   {a.Run, "02", a.Entrypoint(), false},
		"without labels":             {"", "", a.Entrypoint(), false},
		"with another run folder":    {a.Run, "2", "python3 -m trainer run /other/spec.json", false},
		"with more at its end":       {a.Run, "2", a.Entrypoint() + "; id", false},
		"the command within a word":  {a.Run, "2", "x" + strings.TrimPrefix(a.Entrypoint(), a.Python+" "), false},
		"the command without Python": {a.Run, "2", strings.TrimPrefix(a.Entrypoint(), a.Python+" "), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, a.Owns(tc.run, tc.number, tc.entrypoint))
		})
	}
}

func TestAllFaultsOfAnAttemptAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	err := rayjob.Attempt{
		Run: "A", Number: 0, Dir: "x", TrainerPath: "y", Python: "p q", Reads: []string{"/"}, Env: map[string]string{"1A": ""},
	}.Check()
	for _, want := range []string{`run name "A"`, "attempt number 0", `run folder "x"`, `trainer folder "y"`, `interpreter "p q"`, `folder "/"`, `variable name "1A"`, "ask the administrator"} {
		require.ErrorContains(t, err, want)
	}
	longest := good()
	longest.Run = "a" + strings.Repeat("-", 38) + "z"
	require.NoError(t, longest.Check())
	for _, text := range []string{"-a", "a-", "1a", "a_b", "ä"} {
		a := good()
		a.Run = text
		require.Error(t, a.Check(), text)
	}
}

func TestAnEnvironmentNeverReachesTheNetworkUnlessItIsToldTo(t *testing.T) {
	t.Parallel()
	env := rayjob.Attempt{}.Environment()
	for _, name := range []string{"HF_HUB_OFFLINE", "HF_HUB_DISABLE_TELEMETRY", "HF_HUB_DISABLE_IMPLICIT_TOKEN", "PYTHONDONTWRITEBYTECODE"} {
		require.Equal(t, "1", env[name], name)
	}
	require.Equal(t, map[string]string{rayjob.LabelRun: "", rayjob.LabelAttempt: "0"}, rayjob.Attempt{}.Labels())
	forged := rayjob.Attempt{Run: "ft-one", Number: 1, Metadata: map[string]string{rayjob.LabelRun: "ft-other"}}
	require.Equal(t, "ft-one", forged.Labels()[rayjob.LabelRun], "metadata cannot claim another run")
}

func TestErrorsOfSettingsAndWaitsAreTheirTexts(t *testing.T) {
	t.Parallel()
	require.EqualError(t, &rayjob.WaitError{Text: "waiting"}, "waiting")
	require.EqualError(t, &rayjob.SettingError{Setting: "A", Text: "A: wrong"}, "A: wrong")
}
