package sidecar

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script returns a program that stands for Python.
func script(t *testing.T, body string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "python")
	syscall.ForkLock.RLock() // a child that has the file open for writing would keep it from being run
	err := os.WriteFile(file, []byte("#!/bin/sh\n"+body+"\n"), 0o700)
	syscall.ForkLock.RUnlock()
	require.NoError(t, err)
	return file
}

func local(t *testing.T, body string, timeout time.Duration) *Local {
	t.Helper()
	l, ok := NewLocal(LocalConfig{
		Python: script(t, body), Trainer: func() (string, error) { return "/trainer", nil }, TokenVariable: "A_TOKEN", Name: "the process", StartTimeout: timeout, Log: zap.NewNop(),
	}).(*Local)
	require.True(t, ok)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

func TestAProcessIsStartedOnceAndAgainAfterItsEnd(t *testing.T) {
	t.Parallel()
	starts := filepath.Join(t.TempDir(), "starts")
	l := local(t, `echo "$A_TOKEN" >> `+starts+`; echo '{"port": 4711}'; exec cat`, time.Minute)
	first, err := l.At(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, "http://127.0.0.1:4711", first.URL)
	again, err := l.At(t.Context(), "")
	require.NoError(t, err)
	require.True(t, first.Woken)
	require.False(t, again.Woken)
	require.Equal(t, first.Token, again.Token)
	after, err := l.At(t.Context(), first.URL)
	require.NoError(t, err)
	require.NotEqual(t, first.Token, after.Token, "a new process has a new token")
	doc, err := os.ReadFile(starts)
	require.NoError(t, err)
	require.Equal(t, first.Token.Reveal()+"\n"+after.Token.Reveal()+"\n", string(doc))
	require.NoError(t, l.Close())
	_, err = l.At(t.Context(), "")
	require.ErrorIs(t, err, ErrNotSetUp, "after Close nothing is started")
}

func TestAProcessThatCannotStartIsNotTriedAtEachQuestion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body    string
		timeout time.Duration
	}{
		"a missing package": {`echo x >> "$0.starts"; echo "No module named onnxruntime" >&2; exit 1`, time.Minute},
		"no port":           {`echo x >> "$0.starts"; echo hello; exec cat`, time.Minute},
		"a strange port":    {`echo x >> "$0.starts"; echo '{"port": 99999}'; exec cat`, time.Minute},
		"a package":         {`echo x >> "$0.starts"; echo '{"missing": "tensorboard"}'`, time.Minute},
		"it says nothing":   {`echo x >> "$0.starts"; exec cat`, 50 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := local(t, c.body, c.timeout)
			for range 3 {
				_, err := l.At(t.Context(), "")
				require.ErrorIs(t, err, ErrNotSetUp)
			}
			doc, err := os.ReadFile(l.cfg.Python + ".starts")
			require.NoError(t, err)
			require.Equal(t, "x\n", string(doc))
		})
	}
}

func TestTheProcessGetsNoSettingsOfTheService(t *testing.T) {
	t.Setenv("STATE_KEY", "very secret")
	for _, variable := range environment("/trainer", "A_TOKEN", "token") {
		require.NotContains(t, variable, "secret")
	}
}

func TestAMissingPackageIsNamed(t *testing.T) {
	t.Parallel()
	l := local(t, `echo '{"missing": "tensorboard"}'`, time.Minute)
	_, err := l.At(t.Context(), "")
	require.ErrorIs(t, err, ErrNotSetUp)
	require.ErrorContains(t, err, "lacks the package tensorboard")
}

func TestWithoutAnInterpreterThereIsNoProcess(t *testing.T) {
	t.Parallel()
	_, err := NewLocal(LocalConfig{Python: "/nowhere/python"}).At(t.Context(), "")
	require.ErrorIs(t, err, ErrNotSetUp)
}
