package raytest

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// Fixture is a Ray cluster on which the contract is tested.
type Fixture struct {
	// Backend returns a backend that uses the token and does not cache its answers.
	Backend func(t *testing.T, token job.Secret) rayjob.Backend
	// Token is the cluster's token; empty for a backend that asks for none.
	Token job.Secret
	// Python and TrainerPath run the stand-in for the training program.
	Python, TrainerPath string
	// Restart replaces the cluster by a new one at the same address. It is called last. Lost is a part of the reason that lost
	// trainings then have.
	Restart func(t *testing.T)
	Lost    string
	// Timeout is the longest time that a job may take for any step.
	Timeout time.Duration
}

// contract is one test of the contract with its fixture.
type contract struct {
	Fixture
	backend rayjob.Backend
}

// TestBackend tests the promises of rayjob.Backend.
func TestBackend(t *testing.T, fixture Fixture) {
	t.Helper()
	c := contract{Fixture: fixture, backend: fixture.Backend(t, fixture.Token)}
	t.Run("a training that ends well is run once, with its environment, however often it is submitted", c.succeed)
	t.Run("a training that ends badly says why in one line", c.fail)
	t.Run("a running training is stopped with time to save itself", c.stop)
	t.Run("an attempt that does not exist is lost, and can be stopped and released", c.absent)
	t.Run("releasing a running training ends it", c.releaseRunning)
	t.Run("a job of another service under the same name is not adopted", c.foreign)
	if fixture.Token != "" {
		t.Run("a wrong or missing token is an error in the settings", c.token)
	}
	t.Run("a restarted cluster has lost its trainings and accepts the same one again", c.restart)
}

// attempt writes the spec of a new run.
func (c contract) attempt(t *testing.T, spec Spec) rayjob.Attempt {
	t.Helper()
	dir := t.TempDir()
	doc, err := json.Marshal(spec)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "spec.json"), doc, 0o600))
	return rayjob.Attempt{
		Run: rayjob.RunName("contract", t.Name(), dir), Number: 1, Dir: dir, Python: c.Python, TrainerPath: c.TrainerPath,
		Env: map[string]string{"CONTRACT": "kept"}, Metadata: map[string]string{"clowder_dataset": "Ä \"quoted\""},
	}
}

func (c contract) submit(t *testing.T, a rayjob.Attempt) rayjob.Handle {
	t.Helper()
	h, err := c.backend.Submit(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, a.Name(), h.ID)
	require.NotEmpty(t, h.Backend)
	require.NotEmpty(t, h.Session)
	return h
}

// until waits for a verdict and returns the observation that has it. Any other end fails the test.
func (c contract) until(t *testing.T, h rayjob.Handle, want rayjob.Verdict) rayjob.Observation {
	t.Helper()
	var obs rayjob.Observation
	require.Eventually(t, func() bool {
		var err error
		obs, err = c.backend.Observe(t.Context(), h, time.Hour)
		require.NoError(t, err)
		if obs.Verdict != want && obs.Verdict.Terminal() {
			require.Equal(t, want, obs.Verdict, obs.Reason)
		}
		return obs.Verdict == want
	}, c.Timeout, 50*time.Millisecond, "the last observation was %+v", &obs)
	return obs
}

// started waits until the program itself has reported its start.
func (c contract) started(t *testing.T, a rayjob.Attempt) {
	t.Helper()
	require.Eventually(t, func() bool { return exists(a, "starts") }, c.Timeout, 50*time.Millisecond)
}

func exists(a rayjob.Attempt, name string) bool {
	_, err := os.Stat(filepath.Join(a.Dir, name))
	return err == nil
}

func (c contract) succeed(t *testing.T) {
	a := c.attempt(t, Spec{Print: "Grüße ✓ \"a\\b\"\tπ 😀\n"})
	h := c.submit(t, a)
	require.Equal(t, h, c.submit(t, a))
	c.until(t, h, rayjob.Succeeded)
	require.Equal(t, h, c.submit(t, a), "an attempt that has ended is adopted as well")

	starts, err := os.ReadFile(filepath.Join(a.Dir, "starts"))
	require.NoError(t, err)
	require.Equal(t, "started\n", string(starts))
	raw, err := os.ReadFile(filepath.Join(a.Dir, "env.json"))
	require.NoError(t, err)
	env := map[string]string{}
	require.NoError(t, json.Unmarshal(raw, &env))
	for key, value := range a.Environment() {
		require.Contains(t, env[key], value, key)
	}

	var logs bytes.Buffer
	require.NoError(t, c.backend.Logs(t.Context(), h, &logs))
	require.Contains(t, logs.String(), "Grüße ✓ \"a\\b\"\tπ 😀\n")

	require.NoError(t, c.backend.Stop(t.Context(), h))
	require.NoError(t, c.backend.Release(t.Context(), h))
	require.NoError(t, c.backend.Release(t.Context(), h))
	c.lost(t, h)
	require.Eventually(t, func() bool { // Ray may bring the entry back for a moment, which the next Observe deletes
		err := c.backend.Logs(t.Context(), h, &logs)
		if err != nil {
			require.ErrorIs(t, err, rayjob.ErrNoLogs)
			return true
		}
		c.lost(t, h)
		return false
	}, c.Timeout, 50*time.Millisecond)
}

// lost waits until the attempt is lost.
func (c contract) lost(t *testing.T, h rayjob.Handle) rayjob.Observation {
	t.Helper()
	var obs rayjob.Observation
	require.Eventually(t, func() bool {
		var err error
		obs, err = c.backend.Observe(t.Context(), h, time.Hour)
		require.NoError(t, err)
		return obs.Verdict == rayjob.Lost
	}, c.Timeout, 50*time.Millisecond, "the last observation was %+v", &obs)
	requirePlain(t, obs.Reason)
	return obs
}

func (c contract) fail(t *testing.T) {
	a := c.attempt(t, Spec{Exit: 3, Print: "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\n" +
		"    raise ValueError(secret)\nValueError: \x1b[31mno label column\x1b[0m in data.csv\n"})
	h := c.submit(t, a)
	obs := c.until(t, h, rayjob.Failed)
	requirePlain(t, obs.Reason)
	require.Equal(t, "the training program ended with exit code 3: ValueError: no label column in data.csv", obs.Reason)
	require.NoError(t, c.backend.Release(t.Context(), h))
}

// requirePlain checks what Observation promises of its texts.
func requirePlain(t *testing.T, text string) {
	t.Helper()
	require.NotEmpty(t, text)
	require.LessOrEqual(t, utf8.RuneCountInString(text), rayjob.MaxReason)
	require.NotContains(t, text, "Traceback")
	require.False(t, strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }), "%q", text)
}

func (c contract) stop(t *testing.T) {
	a := c.attempt(t, Spec{Wait: true})
	h := c.submit(t, a)
	c.started(t, a)
	c.until(t, h, rayjob.Running)
	c.stopped(t, h)
	require.True(t, exists(a, "stopped"))
	require.Equal(t, rayjob.Stopped, c.until(t, h, rayjob.Stopped).Verdict)
	c.stopped(t, h)
	require.NoError(t, c.backend.Release(t.Context(), h))
}

// stopped calls Stop as the pipeline does: it repeats the call while the error says later.
func (c contract) stopped(t *testing.T, h rayjob.Handle) {
	t.Helper()
	require.Eventually(t, func() bool {
		err := c.backend.Stop(t.Context(), h)
		if err != nil {
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindLater, kind, err)
		}
		return err == nil
	}, c.Timeout, 10*time.Millisecond)
}

func (c contract) absent(t *testing.T) {
	h := rayjob.Handle{ID: "ft-never-submitted-a1"}
	c.lost(t, h)
	require.NoError(t, c.backend.Stop(t.Context(), h))
	require.NoError(t, c.backend.Release(t.Context(), h))
}

func (c contract) releaseRunning(t *testing.T) {
	a := c.attempt(t, Spec{Wait: true})
	h := c.submit(t, a)
	c.started(t, a)
	require.Eventually(t, func() bool {
		err := c.backend.Release(t.Context(), h)
		if err != nil {
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindLater, kind, err)
		}
		return err == nil
	}, c.Timeout, 10*time.Millisecond)
	require.True(t, exists(a, "stopped"))
	c.lost(t, h)
}

func (c contract) foreign(t *testing.T) {
	a := c.attempt(t, Spec{})
	h := c.submit(t, a)
	other := a
	other.Dir = "/somewhere/else"
	_, err := c.backend.Submit(t.Context(), other)
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind, "%v", err)
	c.until(t, h, rayjob.Succeeded)
	require.NoError(t, c.backend.Release(t.Context(), h))
}

func (c contract) token(t *testing.T) {
	for name, token := range map[string]job.Secret{"missing": "", "wrong": "0123456789abcdef0123456789abcdef"} {
		t.Run(name, func(t *testing.T) {
			backend := c.Backend(t, token)
			_, submit := backend.Submit(t.Context(), c.attempt(t, Spec{}))
			_, observe := backend.Observe(t.Context(), rayjob.Handle{ID: "ft-a1"}, time.Hour)
			for _, err := range []error{
				submit, observe, backend.Stop(t.Context(), rayjob.Handle{ID: "ft-a1"}), backend.Release(t.Context(), rayjob.Handle{ID: "ft-a1"}),
				backend.Logs(t.Context(), rayjob.Handle{ID: "ft-a1"}, &bytes.Buffer{}),
			} {
				setting, ok := errors.AsType[*rayjob.SettingError](err)
				require.True(t, ok, "%v", err)
				require.Contains(t, setting.Error(), setting.Setting)
				kind, _ := job.Classify(err)
				require.Equal(t, job.KindLater, kind)
			}
		})
	}
}

func (c contract) restart(t *testing.T) {
	a := c.attempt(t, Spec{Wait: true})
	h := c.submit(t, a)
	c.started(t, a)
	c.Restart(t)
	require.Contains(t, c.lost(t, h).Reason, c.Lost)
	require.NoError(t, c.backend.Stop(t.Context(), h))

	again := c.submit(t, a)
	require.NotEqual(t, h.Session, again.Session)
	c.until(t, again, rayjob.Running)
	c.stopped(t, again)
}
