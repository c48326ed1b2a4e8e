package basemodels_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/hub/hubtest"
	"github.com/ncsa/clowder-ray/internal/job"
)

const other = "org/other"

// withTwo is an operator who has installed two models.
func withTwo(t *testing.T) operator {
	t.Helper()
	o := newOperator(t, hubtest.New(t, map[string]hubtest.Repo{tiny: bert(), other: bert()}))
	for _, id := range []string{tiny, other} {
		_, _, err := o.run(t, "install", id, "--yes")
		require.NoError(t, err)
	}
	return o
}

func TestEveryModelIsListedAlsoOneThatCannotBeRead(t *testing.T) {
	t.Parallel()
	o := withTwo(t)
	description := filepath.Join(o.models(), other, "model.json")
	require.NoError(t, os.Remove(description))
	require.NoError(t, os.Mkdir(description, 0o750))
	copied := filepath.Join(o.models(), "org", "copied")
	require.NoError(t, os.MkdirAll(copied, 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(copied, "config.json"), []byte("{}"), 0o600))
	stdout, stderr, err := o.run(t, "installed")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^org/copied +\(copied by hand, without model\.json\)$`, stdout)
	require.Regexp(t, `(?m)^org/other `, stdout)
	require.Regexp(t, `(?m)^`+tiny+` +text +BertModel +1 M +3\.8 MiB +mit `, stdout)
	require.Equal(t, 4, strings.Count(stdout, "\n"))
	require.Equal(t, 1, strings.Count(stderr, "warning: "), "a model that was copied by hand is no fault")
	require.Contains(t, stderr, "warning: the description of org/other cannot be read: ")
}

func TestAllModelsAreVerifiedAndThoseThatDifferAreCounted(t *testing.T) {
	t.Parallel()
	o := withTwo(t)
	stdout, _, err := o.run(t, "verify")
	require.NoError(t, err)
	require.Equal(t, "ok    "+other+"\nok    "+tiny+"\n", stdout)

	require.NoError(t, os.WriteFile(filepath.Join(o.models(), other, "vocab.txt"), []byte("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nwore\n"), 0o600))
	copied := filepath.Join(o.models(), "org", "copied")
	require.NoError(t, os.MkdirAll(copied, 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(copied, "config.json"), []byte("{}"), 0o600))
	stdout, _, err = o.run(t, "verify")
	require.EqualError(t, err, "files differ in 2 of 3 models: install again")
	kind, _ := job.Classify(err)
	require.NotEqual(t, job.KindPermanent, kind, "no argument was wrong")
	require.Contains(t, stdout, "FAIL  org/copied: ")
	require.Contains(t, stdout, "FAIL  org/other: vocab.txt ")
	require.Contains(t, stdout, "ok    "+tiny+"\n")
	stdout, _, err = o.run(t, "verify", "org/copied")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "files differ", "what is wrong with the one model is the error")
	require.Empty(t, stdout)
}

func TestABundleOfSeveralModelsTakesNoOptionsOfOne(t *testing.T) {
	t.Parallel()
	o := withTwo(t)
	bundle := filepath.Join(t.TempDir(), "Models.ZIP")
	stdout, _, err := o.run(t, "bundle", tiny, other, "--out", bundle)
	require.NoError(t, err)
	require.Equal(t, "wrote 2 models to "+bundle+" (7.6 MiB)\n", stdout)
	o.volume = t.TempDir()
	for _, option := range [][]string{{"--name", "org/new"}, {"--license", "mit"}, {"--model-type", "bert"}, {"--default"}} {
		_, _, err := o.run(t, append([]string{"install", bundle, "--yes"}, option...)...)
		require.EqualError(t, err, bundle+" has 2 models: leave out --name, --license, --model-type and --default", "%v", option)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind)
		require.NoDirExists(t, filepath.Join(o.models(), "org"))
	}
	o.stdin = "y\n"
	_, stderr, err := o.run(t, "install", bundle)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(stderr, "Install? [y/N]"), "one question for all of them")
	_, stderr, err = o.run(t, "install", bundle)
	require.NoError(t, err)
	require.NotContains(t, stderr, "Install?", "nothing is left to ask")
	require.Equal(t, 2, strings.Count(stderr, "this model is installed already"))
}

func TestABundleThatFailsLeavesTheOldFile(t *testing.T) {
	t.Parallel()
	o := withTwo(t)
	dir := t.TempDir()
	bundle := filepath.Join(dir, "models.zip")
	require.NoError(t, os.WriteFile(bundle, []byte("old"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(o.models(), other, "vocab.txt"), []byte("[PAD]\n"), 0o600))
	for _, names := range [][]string{{tiny, "org/absent"}, {tiny, other}, {"../../etc"}} {
		stdout, _, err := o.run(t, append([]string{"bundle", "--out", bundle}, names...)...)
		require.Error(t, err, "%v", names)
		require.Empty(t, stdout)
		content, err := os.ReadFile(bundle)
		require.NoError(t, err)
		require.Equal(t, "old", string(content))
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "no part of a bundle is left")
	_, _, err = o.run(t, "bundle", tiny, "--out", filepath.Join(dir, "absent", "models.zip"))
	require.ErrorContains(t, err, "write the bundle: ")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
}

func TestAFileWithATokenHoldsNothingElse(t *testing.T) {
	t.Parallel()
	double := hubtest.New(t, map[string]hubtest.Repo{tiny: bert()}, hubtest.WithToken(secret))
	for name, tc := range map[string]struct {
		content string
		fits    bool
	}{
		"a token":                       {secret, true},
		"blanks around it":              {"\n  " + secret + "\r\n", true},
		"two tokens":                    {"hf_canary hf_canary", false},
		"a token in each of two lines":  {"hf_canary\nhf_canary\n", false},
		"a setting of a shell":          {"HF_TOKEN\t=hf_canary", false},
		"a file of the wrong kind":      {strings.Repeat("hf_canary", 1000), false},
		"a token before many blanks":    {secret + strings.Repeat(" ", 4096), false},
		"nothing but the end of a line": {"\r\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "token")
			require.NoError(t, os.WriteFile(file, []byte(tc.content), 0o600))
			o := newOperator(t, double)
			o.stdin = "n\n"
			stdout, stderr, err := o.run(t, "install", tiny, "--token-file", file)
			require.NotContains(t, stdout+stderr+err.Error(), "hf_")
			if tc.fits {
				require.EqualError(t, err, "nothing was installed", "the question is asked")
				return
			}
			require.EqualError(t, err, "--token-file: "+file+" must hold a token and nothing else")
		})
	}
	o := newOperator(t, double)
	_, _, err := o.run(t, "install", tiny, "--token-file", filepath.Join(t.TempDir(), "none"))
	require.ErrorContains(t, err, "--token-file: open ")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
}
