package sidecar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARemoteProcessHasTheTokenOfItsFileAsItIsNow(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	r := NewRemote("http://answers:8000//", "ANSWER_TOKEN_FILE", file)
	_, err := r.At(t.Context(), "")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "ANSWER_TOKEN_FILE: ", "the error names the setting to correct")
	for _, token := range []string{"first", "second"} {
		require.NoError(t, os.WriteFile(file, []byte(" "+token+"\r\n"), 0o600))
		place, err := r.At(t.Context(), "http://answers:8000")
		require.NoError(t, err)
		require.Equal(t, "http://answers:8000", place.URL)
		require.Equal(t, token, place.Token.Reveal())
		require.False(t, place.Woken, "the service started nothing")
	}
	require.NoError(t, r.Close())
	_, err = r.At(t.Context(), "")
	require.NoError(t, err, "the process is not ours to end")
}

func TestARemoteProcessMayAskForNoToken(t *testing.T) {
	t.Parallel()
	place, err := NewRemote("http://answers:8000", "ANSWER_TOKEN_FILE", "").At(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, Endpoint{URL: "http://answers:8000"}, place)
}

// refused is what an HTTP client says of a port where nobody listens.
func refused() error {
	return &url.Error{Op: "Get", URL: "http://127.0.0.1:4711/secret", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}
}

// late is what an HTTP client says of a server that listens and is slow.
func late() error {
	return &url.Error{Op: "Get", URL: "http://127.0.0.1:4711/secret", Err: context.DeadlineExceeded}
}

func TestAProcessIsGoneIfItDoesNotAnswerAtAll(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err  error
		gone bool
	}{
		"nobody listens":       {refused(), true},
		"an end of its answer": {io.ErrUnexpectedEOF, true},
		"no answer":            {fmt.Errorf("ask: %w", io.EOF), true},
		"a slow one":           {late(), false},
		"a refusal":            {errors.New("status 500"), false},
		"nothing":              {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.gone, IsGone(tc.err))
		})
	}
}

func TestAVisitorDoesNotReadTheAddressOfAProcess(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"nobody listens": refused(), "a slow one": late(), "a wrapped one": fmt.Errorf("ask: %w", refused())} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NotContains(t, WithoutURL(err).Error(), "4711")
		})
	}
	other := errors.New("status 500")
	require.Equal(t, other, WithoutURL(other))
}

func TestTheFirstLineOfAProcessIsReadWithCare(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		printed string
		want    ready
	}{
		"a port":             {"{\"port\": 4711}\n", ready{Port: 4711}},
		"a package":          {"{\"missing\": \"tensorboard\"}\n", ready{Missing: "tensorboard"}},
		"more lines":         {"{\"port\": 1}\n{\"port\": 2}\n", ready{Port: 1}},
		"no end of the line": {`{"port": 4711}`, ready{Port: 4711}},
		"nothing":            {"", ready{}},
		"a warning":          {"Warning: {\"port\": 1}\n", ready{}},
		"a port as text":     {"{\"port\": \"4711\"}\n", ready{}},
		"an endless line":    {strings.Repeat(" ", 2<<10) + "{\"port\": 4711}\n", ready{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, firstLine(strings.NewReader(tc.printed)))
		})
	}
}

func TestTheEndOfWhatAProcessSaidIsKeptAsOneLine(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		said []string
		want string
	}{
		"nothing":     {nil, ""},
		"two lines":   {[]string{"Traceback:\n", "\tKeyError\r\n"}, "Traceback: KeyError"},
		"no text":     {[]string{"a\xff\xfeb"}, "a?b"},
		"a long text": {[]string{strings.Repeat("x", maxTail), "\nthe cause"}, strings.Repeat("x", maxTail-len("\nthe cause")) + " the cause"},
		"a long part": {[]string{"first " + strings.Repeat("y", maxTail)}, strings.Repeat("y", maxTail)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := &tail{}
			for _, part := range tc.said {
				n, err := kept.Write([]byte(part))
				require.NoError(t, err)
				require.Len(t, part, n)
			}
			require.Equal(t, tc.want, kept.String())
		})
	}
}

func TestATrainerThatCannotBeInstalledIsNotStarted(t *testing.T) {
	t.Parallel()
	l := local(t, `echo x >> "$0.starts"; echo '{"port": 4711}'; exec cat`, 0)
	l.cfg.Trainer = func() (string, error) { return "", errors.New("the disk is full") }
	_, err := l.At(t.Context(), "")
	require.ErrorIs(t, err, ErrNotSetUp)
	require.ErrorContains(t, err, "the process cannot be started, the log of the service says why")
	require.NoFileExists(t, l.cfg.Python+".starts")
	require.Equal(t, defaultStart, l.cfg.StartTimeout)
}
