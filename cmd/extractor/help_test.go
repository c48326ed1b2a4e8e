package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
)

// oldWords are words that no help text uses: a reader may not know them.
var oldWords = regexp.MustCompile(`(?i)\b(lest|anew|whoever|whomever|thereof|mend|for ever)\b`)

func TestEveryCommandHasAPlainHelpText(t *testing.T) {
	t.Parallel()
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		require.Regexp(t, `^[A-Z][a-z]+,? .*[^.]$`, cmd.Short, cmd.CommandPath())
		require.NotRegexp(t, oldWords, cmd.Short+cmd.Long, cmd.CommandPath())
		code, stdout, stderr := execute(t, t.TempDir(), append(strings.Fields(cmd.CommandPath())[1:], "--help")...)
		require.Equal(t, exitOK, code, stderr)
		require.Contains(t, stdout, "Usage:", cmd.CommandPath())
		require.Equal(t, cmd.Name() == "serve", strings.Contains(stdout, "--rabbitmq-uri"), "%s: only the help of serve lists the settings", cmd.CommandPath())
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit((&program{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}}).root())
}

func TestEverySettingHasAPlainHelpTextAndAField(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range settings.Table() {
		require.Regexp(t, `^[A-Z].*[^.]$`, s.Help, s.Key)
		require.NotRegexp(t, oldWords, s.Help, s.Key)
		require.False(t, seen[s.Key] || seen[s.Env], "%s is there twice", s.Key)
		seen[s.Key], seen[s.Env] = true, true
	}
}

func TestAConsoleThatIsNoTerminalPrintsLinesAndNoErrors(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := newConsole(&out)
	require.NoError(t, c.Publish(t.Context(), job.Request{}, message.Status{Text: "reading the dataset"}))
	require.NoError(t, c.Publish(t.Context(), job.Request{}, message.Status{Text: "epoch 1", Progress: true}))
	require.NoError(t, c.Publish(t.Context(), job.Request{}, message.Status{Text: "it failed", Kind: message.StatusError}))
	c.watch("ft-one", results.Progress{Epochs: 3, Fraction: 0.5})
	c.finish()
	require.Regexp(t, `^ +\d+\.\d s  reading the dataset\n +\d+\.\d s  epoch 1\n$`, out.String())
}

func TestTheLoggerHasALevelAndAFormat(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{"json": `"msg":"kept"`, "console": "WARN\tkept"} {
		var out bytes.Buffer
		log, err := newLogger(&out, "warn", format)
		require.NoError(t, err)
		log.Info("dropped")
		log.Warn("kept")
		require.Contains(t, out.String(), want)
		require.NotContains(t, out.String(), "dropped")
	}
	_, err := newLogger(&bytes.Buffer{}, "loud", "json")
	require.ErrorContains(t, err, "LOG_LEVEL")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
}
