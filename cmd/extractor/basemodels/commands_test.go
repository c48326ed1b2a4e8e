package basemodels_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/cmd/extractor/basemodels"
	"github.com/ncsa/clowder-ray/internal/basemodel"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/hub/hubtest"
	"github.com/ncsa/clowder-ray/internal/job"
)

const (
	tiny   = "prajjwal1/bert-tiny"
	secret = "hf_thisisasecret"
)

// execute runs a command line of extractor models.
func execute(
	ctx context.Context, volume string, roots *x509.CertPool, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string, args ...string,
) error {
	root := &cobra.Command{Use: "models", SilenceUsage: true, SilenceErrors: true}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return job.Permanent(err) })
	root.AddCommand(basemodels.Commands(basemodels.Environment{
		Stdin: stdin, Stdout: stdout, Stderr: stderr, Getenv: getenv, Roots: roots,
		Store: func(*cobra.Command) (*basemodel.Store, error) {
			return basemodel.New(disk.Folder{Volume: volume, Name: "models"}), nil
		},
	})...)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return root.ExecuteContext(ctx)
}

// operator runs commands on one volume.
type operator struct {
	volume string
	env    map[string]string
	stdin  string
	roots  *x509.CertPool
}

func (o operator) run(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	err = execute(t.Context(), o.volume, o.roots, strings.NewReader(o.stdin), &out, &errs, func(name string) string { return o.env[name] }, args...)
	return out.String(), errs.String(), err
}

func (o operator) models() string { return filepath.Join(o.volume, "models") }

// bert is a model of a few values and of one large tensor, complete as transformers wants it.
func bert() hubtest.Repo {
	header := `{"bert.embeddings.word_embeddings.weight":{"dtype":"F32","shape":[6,4],"data_offsets":[0,96]},` +
		`"bert.encoder.layer.0.x":{"dtype":"F32","shape":[1000,1000],"data_offsets":[96,4000096]}}`
	weights := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	for i := range 4_000_096 {
		weights = append(weights, byte(i*i>>8))
	}
	return hubtest.Repo{License: "mit", Revisions: []string{"refs/pr/11"}, Files: map[string][]byte{
		"config.json":       []byte(`{"model_type": "bert", "architectures": ["BertModel"], "hidden_size": 4, "num_hidden_layers": 1}`),
		"vocab.txt":         []byte("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nword\n"),
		"README.md":         []byte("---\nlicense: mit\n---\n# A model\n"),
		"modeling_x.py":     []byte("import os"),
		"model.safetensors": weights,
	}}
}

func newOperator(t *testing.T, double *hubtest.Hub) operator {
	t.Helper()
	return operator{volume: t.TempDir(), env: map[string]string{"HF_ENDPOINT": double.URL}}
}

func TestAModelIsInstalledListedVerifiedBundledAndRemoved(t *testing.T) {
	t.Parallel()
	repo := bert()
	double := hubtest.New(t, map[string]hubtest.Repo{tiny: repo}, hubtest.WithPrefix("/mirror/hf"))
	o := newOperator(t, double)
	stdout, stderr, err := o.run(t, "install", tiny, "--revision", "refs/pr/11", "--yes", "--default")
	require.NoError(t, err)
	require.Contains(t, stdout, "installed "+tiny+": text encoder")
	for _, want := range []string{"from: " + double.URL, double.Commit(tiny), "license      mit", "size         3.8 MiB in 4 files", "room needed  3.8 MiB", "100 %"} {
		require.Contains(t, stderr, want)
	}
	require.NoFileExists(t, filepath.Join(o.models(), tiny, "modeling_x.py"))
	for _, r := range double.Requests() {
		require.NotContains(t, r.Path, ".py")
	}

	for _, list := range []string{"installed", "list"} {
		stdout, _, err = o.run(t, list)
		require.NoError(t, err)
		require.Regexp(t, tiny+` +\* +text .*3\.8 MiB +mit +`+double.Commit(tiny)[:10], stdout)
	}
	stdout, _, err = o.run(t, "verify")
	require.NoError(t, err)
	require.Equal(t, "ok    "+tiny+"\n", stdout)

	bundle := filepath.Join(t.TempDir(), "models.zip")
	stdout, _, err = o.run(t, "bundle", tiny, "--out", bundle)
	require.NoError(t, err)
	require.Equal(t, "wrote 1 model to "+bundle+" (3.8 MiB)\n", stdout)
	stdout, _, err = o.run(t, "remove", tiny)
	require.NoError(t, err)
	require.Equal(t, "removed "+tiny+"\n", stdout)

	_, _, err = o.run(t, "install", bundle, "--yes")
	require.NoError(t, err)
	kept, err := os.ReadFile(filepath.Join(o.models(), tiny, "model.safetensors"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(repo.Files["model.safetensors"], kept))
	require.NoError(t, os.Remove(filepath.Join(o.models(), tiny, "vocab.txt")))
	stdout, _, err = o.run(t, "verify", tiny)
	require.EqualError(t, err, "files differ in 1 of 1 model: install again")
	require.Equal(t, "FAIL  "+tiny+": vocab.txt is missing.\n", stdout)
}

func TestNothingIsLoadedBeforeTheOperatorAgrees(t *testing.T) {
	t.Parallel()
	double := hubtest.New(t, map[string]hubtest.Repo{tiny: bert()})
	for stdin, want := range map[string]string{
		"": "nobody answers: add --yes to install without a question", "n\n": "nothing was installed", "\n": "nothing was installed", "y\n": "", "Yes\n": "",
	} {
		o := newOperator(t, double)
		o.stdin = stdin
		_, stderr, err := o.run(t, "install", tiny)
		require.Contains(t, stderr, "Install? [y/N]")
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, want)
		require.NoDirExists(t, filepath.Join(o.models(), tiny))
	}
}

func TestWeightsInAPickleAreRefusedWithARevisionToLookFor(t *testing.T) {
	t.Parallel()
	repo := bert()
	delete(repo.Files, "model.safetensors")
	repo.Files["pytorch_model.bin"] = []byte("pickled")
	o := newOperator(t, hubtest.New(t, map[string]hubtest.Repo{tiny: repo}))
	_, _, err := o.run(t, "install", tiny, "--yes")
	require.ErrorContains(t, err, "The model has its weights only as a pickle (pytorch_model.bin)")
	require.ErrorContains(t, err, "--revision refs/pr/NUMBER")
	require.NoDirExists(t, filepath.Join(o.models(), tiny))
}

func TestEveryFaultOfTheHubEndsWithAModelOrWithASentence(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		suffix string
		fault  hubtest.Fault
		want   string // empty: the model is installed
	}{
		"a byte is flipped once":         {"model.safetensors", hubtest.Fault{Kind: hubtest.Flipped, Times: 1}, ""},
		"a byte is flipped always":       {"model.safetensors", hubtest.Fault{Kind: hubtest.Flipped}, "model.safetensors is not what the Hub says it is (sha256 differs), twice. Nothing was installed. Try again, or try another mirror."},
		"a small file has another byte":  {"vocab.txt", hubtest.Fault{Kind: hubtest.Flipped}, "vocab.txt is not what the Hub says it is (sha1 differs), twice."},
		"each connection carries 40 %":   {"model.safetensors", hubtest.Fault{Kind: hubtest.Cut, Times: 2}, ""},
		"the file never ends":            {"model.safetensors", hubtest.Fault{Kind: hubtest.Endless}, "model.safetensors is not what the Hub says it is (its size differs), twice."},
		"the file is longer":             {"model.safetensors", hubtest.Fault{Kind: hubtest.Longer}, "where the Hub says"},
		"the file is empty":              {"model.safetensors", hubtest.Fault{Kind: hubtest.Empty}, "has 0 bytes where the Hub says"},
		"the server knows no ranges":     {"model.safetensors", hubtest.Fault{Kind: hubtest.NoRanges}, ""},
		"the endpoint redirects forever": {"/main", hubtest.Fault{Kind: hubtest.RedirectLoop}, "there are too many redirects. Check --endpoint."},
		"a login page answers":           {"/main", hubtest.Fault{Kind: hubtest.LoginPage}, "is not one of a Hub"},
		"the wait is too long":           {"/main", hubtest.Fault{Kind: hubtest.RateLimited, Seconds: 9999}, "The Hub takes no more requests for 2 h 47 min. Try again later"},
		"the wait is short":              {"/main", hubtest.Fault{Kind: hubtest.RateLimited, Seconds: 1, Times: 1}, ""},
		"the mirror says no sizes":       {"/main", hubtest.Fault{Kind: hubtest.WithoutSizes}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			double := hubtest.New(t, map[string]hubtest.Repo{tiny: bert()})
			double.Fail(tc.suffix, tc.fault)
			o := newOperator(t, double)
			_, _, err := o.run(t, "install", tiny, "--yes")
			if tc.want != "" {
				require.ErrorContains(t, err, tc.want)
				require.NoDirExists(t, filepath.Join(o.models(), tiny))
				double.Clear()
				_, _, err = o.run(t, "install", tiny, "--yes")
			}
			require.NoError(t, err)
			_, _, err = o.run(t, "verify", tiny)
			require.NoError(t, err)
		})
	}
}

func TestEveryMistakeOfTheOperatorIsASentence(t *testing.T) {
	t.Parallel()
	gated := bert()
	gated.Gated = true
	unlicensed := bert()
	unlicensed.License, unlicensed.Files = "", maps.Clone(unlicensed.Files)
	delete(unlicensed.Files, "README.md")
	double := hubtest.New(t, map[string]hubtest.Repo{tiny: bert(), "meta-llama/x": gated, "org/unlicensed": unlicensed}, hubtest.WithToken(secret))
	empty := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(empty, []byte("\n"), 0o600))
	wrong := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(wrong, []byte("hf_another\n"), 0o600))
	for want, args := range map[string][]string{
		"The Hub has no model prajjwal1/bert-tinny. Check the name; it is written owner/name.":                                            {"install", "prajjwal1/bert-tinny"},
		"meta-llama/x is gated: its owner must let you in. Ask for access on its page, then give a token with --token-file.":              {"install", "meta-llama/x"},
		"The token was refused by the Hub. Make a new one with read access.":                                                              {"install", tiny, "--token-file", wrong},
		"The model names no license. Its use may not be allowed. Install it with --license TEXT if you know better.":                      {"install", "org/unlicensed"},
		"--token-file: " + empty + " must hold a token and nothing else":                                                                  {"install", tiny, "--token-file", empty},
		"the address of a ZIP file must look like https://host/path/file.zip, without a user or a password":                               {"install", "http://example.org/model.zip"},
		"--sha256 must be 64 hexadecimal digits":                                                                                          {"install", "https://example.org/model.zip", "--sha256", "abc"},
		"--sha256 is for the address of a ZIP file: leave it out":                                                                         {"install", tiny, "--sha256", strings.Repeat("a", 64)},
		"--revision is for models of the Hub: leave it out":                                                                               {"install", "./folder", "--revision", "main"},
		"The model prajjwal1/bert-tiny has no revision v9. Check --revision: it is a branch, a tag, a commit or refs/pr/N.":               {"install", tiny, "--revision", "v9"},
		"The model a/missing is not installed. extractor models installed lists those that are.":                                          {"remove", "a/missing"},
		"usage: extractor models bundle NAME... --out FILE.zip":                                                                           {"bundle", tiny},
		"usage: extractor models install ORG/NAME | FOLDER | FILE.zip | https://…":                                                        {"install"},
		"the endpoint must look like https://host or https://host/path: check --endpoint or HF_ENDPOINT":                                  {"install", tiny, "--endpoint", "hub"},
		`"nowhere else" cannot be the name of a model. It is written owner/name, in Latin letters, digits, dots, dashes and underscores.`: {"install", tiny, "--name", "nowhere else"},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t, double)
			stdout, stderr, err := o.run(t, append(args, map[bool][]string{true: {"--yes"}}[args[0] == "install"]...)...)
			require.EqualError(t, err, want)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
			require.NotContains(t, stdout+stderr+err.Error(), "hf_another")
		})
	}
}

func TestTheTokenOpensAGatedModelAndIsNeverPrinted(t *testing.T) {
	t.Parallel()
	repo := bert()
	repo.Gated = true
	double := hubtest.New(t, map[string]hubtest.Repo{tiny: repo}, hubtest.WithToken(secret))
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(secret+"\n"), 0o600))
	fromFile, fromEnv := newOperator(t, double), newOperator(t, double)
	fromFile.env["HF_TOKEN"] = "hf_old"
	fromEnv.env["HF_TOKEN"] = secret
	for o, args := range map[*operator][]string{&fromFile: {"--token-file", file}, &fromEnv: nil} {
		stdout, stderr, err := o.run(t, append([]string{"install", tiny, "--yes"}, args...)...)
		require.NoError(t, err)
		require.NotContains(t, stdout+stderr, secret)
		doc, err := os.ReadFile(filepath.Join(o.models(), tiny, "model.json"))
		require.NoError(t, err)
		require.NotContains(t, string(doc), secret)
	}
	require.False(t, double.Leaked())
}

func TestAnInstallationThatIsKilledGoesOn(t *testing.T) {
	t.Parallel()
	repo := bert()
	double := hubtest.New(t, map[string]hubtest.Repo{tiny: repo})
	reached := make(chan struct{})
	double.Fail("model.safetensors", hubtest.Fault{Kind: hubtest.Stalled, Times: 1, Reached: reached})
	o := newOperator(t, double)

	self, err := os.Executable()
	require.NoError(t, err)
	child := exec.CommandContext(t.Context(), self, "install", tiny, "--yes")
	child.Env = append(os.Environ(), childVar+"="+o.volume, "HF_ENDPOINT="+double.URL)
	require.NoError(t, child.Start())
	<-reached
	half := int64(len(repo.Files["model.safetensors"])) / 2
	arrived := func(name string) int64 {
		found, _ := filepath.Glob(filepath.Join(o.models(), ".part", "*@*", name))
		if len(found) != 1 {
			return -1
		}
		info, err := os.Stat(found[0])
		if err != nil {
			return -1
		}
		return info.Size()
	}
	require.Eventually(t, func() bool { // the child has written what arrived; it loads several files at a time
		return arrived("model.safetensors") == half && arrived("vocab.txt") == int64(len(repo.Files["vocab.txt"]))
	}, 20*time.Second, 5*time.Millisecond)
	require.NoError(t, child.Process.Kill())
	_, ok := errors.AsType[*exec.ExitError](child.Wait())
	require.True(t, ok)
	require.NoDirExists(t, filepath.Join(o.models(), tiny))

	before := len(double.Requests())
	_, stderr, err := o.run(t, "install", tiny, "--yes")
	require.NoError(t, err)
	require.Contains(t, stderr, "by an earlier attempt")
	var ranges []string
	for _, r := range double.Requests()[before:] {
		if r.Host == "files" {
			ranges = append(ranges, r.Range)
		}
		require.NotContains(t, r.Path, "vocab.txt", "a small file that arrived is not loaded again")
	}
	require.Equal(t, []string{fmt.Sprintf("bytes=%d-", half)}, ranges)
	_, _, err = o.run(t, "verify", tiny)
	require.NoError(t, err)
}

func TestTheProxyOfTheEnvironmentIsUsed(t *testing.T) {
	t.Parallel()
	double := hubtest.New(t, map[string]hubtest.Repo{tiny: bert()})
	self, err := os.Executable()
	require.NoError(t, err)
	child := exec.CommandContext(t.Context(), self, "install", tiny, "--yes")
	child.Env = append(os.Environ(), childVar+"="+t.TempDir(), "HF_ENDPOINT=http://hub.invalid", "HTTP_PROXY="+double.URL, "NO_PROXY=", "HF_TOKEN=")
	out, err := child.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "from: http://hub.invalid")
}

func TestAnInterruptedInstallationSaysThatItGoesOn(t *testing.T) {
	t.Parallel()
	double := hubtest.New(t, map[string]hubtest.Repo{tiny: bert()})
	reached := make(chan struct{})
	double.Fail("model.safetensors", hubtest.Fault{Kind: hubtest.Stalled, Times: 1, Reached: reached})
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		<-reached
		stop()
	}()
	env := map[string]string{"HF_ENDPOINT": double.URL}
	err := execute(ctx, t.TempDir(), nil, strings.NewReader(""), io.Discard, io.Discard, func(name string) string { return env[name] }, "install", tiny, "--yes")
	require.EqualError(t, err, "stopped: run the command again, it goes on where it stopped")
}
