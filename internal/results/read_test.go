package results_test

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
	"github.com/ncsa/clowder-ray/internal/results/report"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestReadGivesAVerifiedResult(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	result, failure, err := results.Read(f.Run(), resultstest.TestRun, 1)
	require.NoError(t, err)
	require.Nil(t, failure)
	require.Equal(t, &f.Result, result)

	result, _, err = results.Read(f.Run(), resultstest.TestRun, 2)
	require.NoError(t, err, "an earlier attempt was made from the same inputs")
	require.Equal(t, 1, result.Attempt)
}

func TestReadRefusesWhatItCannotTrust(t *testing.T) {
	t.Parallel()
	weights := "out/model/model.safetensors"
	for name, tc := range map[string]struct {
		change func(r *results.Result)
		after  func(t *testing.T, f *resultstest.Fixture)
		kind   job.Kind
		text   string
	}{
		"nothing at all": {
			after: func(t *testing.T, f *resultstest.Fixture) {
				t.Helper()
				require.NoError(t, os.Remove(f.Path(results.ResultFile)))
			},
			kind: job.KindRetryable, text: "no result",
		},
		"half a result": {
			after: func(t *testing.T, f *resultstest.Fixture) {
				t.Helper()
				f.Write(t, results.ResultFile, []byte(`{"schema":2`))
			},
			kind: job.KindPermanent, text: "decode",
		},
		"an empty result": {
			after: func(t *testing.T, f *resultstest.Fixture) { t.Helper(); f.Write(t, results.ResultFile, nil) },
			kind:  job.KindPermanent, text: "decode",
		},
		"a result of another schema": {change: func(r *results.Result) { r.Schema = 1 }, kind: job.KindPermanent, text: "schema 1"},
		"a result of another run":    {change: func(r *results.Result) { r.Run = "ft-other" }, kind: job.KindPermanent, text: "ft-other"},
		"a result from the future":   {change: func(r *results.Result) { r.Attempt = 2 }, kind: job.KindPermanent, text: "attempt 2"},
		"no artifacts":               {change: func(r *results.Result) { r.Outputs = []results.Output{} }, kind: job.KindPermanent, text: "no weights"},
		"no metrics":                 {change: func(r *results.Result) { r.Metrics.Validation = results.Scores{} }, kind: job.KindPermanent, text: "no accuracy"},
		"a path that climbs": {
			change: func(r *results.Result) { r.Outputs[0].Path = "out/../inputs/secret" }, kind: job.KindPermanent, text: "not allowed",
		},
		"an absolute path":        {change: func(r *results.Result) { r.Outputs[0].Path = "/etc/passwd" }, kind: job.KindPermanent, text: "not allowed"},
		"a path outside of out":   {change: func(r *results.Result) { r.Outputs[0].Path = "log.txt" }, kind: job.KindPermanent, text: "not allowed"},
		"a path with a line end":  {change: func(r *results.Result) { r.Outputs[0].Path = "out/a\nb" }, kind: job.KindPermanent, text: "not allowed"},
		"a file named twice":      {change: func(r *results.Result) { r.Outputs[0] = r.Outputs[1] }, kind: job.KindPermanent, text: "twice"},
		"a sha256 that is none":   {change: func(r *results.Result) { r.Outputs[0].SHA256 = "abc" }, kind: job.KindPermanent, text: "sha256"},
		"a matrix that is skewed": {change: func(r *results.Result) { r.Confusion = [][]int{{1}, {2, 3}} }, kind: job.KindPermanent, text: "confusion"},
		"an empty matrix row":     {change: func(r *results.Result) { r.Confusion = [][]int{{}, {2, 3}} }, kind: job.KindPermanent, text: "confusion"},
		"a missing file": {
			after: func(t *testing.T, f *resultstest.Fixture) {
				t.Helper()
				require.NoError(t, os.Remove(f.Path("out/predictions.csv")))
			},
			kind: job.KindRetryable, text: "is missing",
		},
		"a shorter file": {
			after: func(t *testing.T, f *resultstest.Fixture) {
				t.Helper()
				require.NoError(t, os.Truncate(f.Path(weights), 100))
			},
			kind: job.KindRetryable, text: "bytes instead of",
		},
		"other bytes": {
			after: func(t *testing.T, f *resultstest.Fixture) {
				t.Helper()
				body := resultstest.Safetensors(4096)
				body[len(body)-1] ^= 1
				f.Write(t, weights, body)
			},
			kind: job.KindRetryable, text: "sha256",
		},
		"a link out of the folder": {
			after: func(t *testing.T, f *resultstest.Fixture) {
				t.Helper()
				require.NoError(t, os.Remove(f.Path("out/predictions.csv")))
				require.NoError(t, os.Symlink("/etc/passwd", f.Path("out/predictions.csv")))
			},
			kind: job.KindPermanent, text: "instead of a file",
		},
		"a folder link out of the run": {
			after: func(t *testing.T, f *resultstest.Fixture) {
				t.Helper()
				outside := t.TempDir()
				require.NoError(t, os.CopyFS(outside, os.DirFS(f.Path("out"))))
				require.NoError(t, os.RemoveAll(f.Path("out")))
				require.NoError(t, os.Symlink(outside, f.Path("out")))
			},
			kind: job.KindRetryable, text: "escapes",
		},
		"a pipe that nobody writes to": {
			after: func(t *testing.T, f *resultstest.Fixture) {
				t.Helper()
				require.NoError(t, os.Remove(f.Path("out/predictions.csv")))
				require.NoError(t, syscall.Mkfifo(f.Path("out/predictions.csv"), 0o600))
			},
			kind: job.KindPermanent, text: "instead of a file",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var change []func(*results.Result)
			if tc.change != nil {
				change = append(change, tc.change)
			}
			f := resultstest.New(t, change...)
			if tc.after != nil {
				tc.after(t, f)
			}
			result, failure, err := results.Read(f.Run(), resultstest.TestRun, 1)
			require.ErrorContains(t, err, tc.text)
			require.NotContains(t, err.Error(), "\n")
			require.Nil(t, result)
			require.Nil(t, failure)
			kind, _ := job.Classify(err)
			require.Equal(t, tc.kind, kind, err.Error())
		})
	}
}

func TestReadRefusesFilesThatMayRunCode(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		path string
		body []byte
	}{
		"a pickle by its name":            {"out/model/pytorch_model.bin", []byte("x")},
		"a pickle by its bytes":           {"out/model/vocab.txt", []byte("\x80\x04\x95")},
		"a torch archive":                 {"out/model/extra.json", []byte("PK\x03\x04")},
		"an ONNX file that is none":       {"out/model/model.onnx", []byte("no ONNX")},
		"an ONNX file in another place":   {"out/other.onnx", []byte("\x08\x0a")},
		"weights that are a pickle":       {"out/model/b.safetensors", []byte("\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00")},
		"weights that are too short":      {"out/model/b.safetensors", []byte("abc")},
		"weights without a tensor":        {"out/model/b.safetensors", []byte("\x02\x00\x00\x00\x00\x00\x00\x00{}")},
		"weights cut short":               {"out/model/b.safetensors", resultstest.Safetensors(64)[:200]},
		"weights with bytes after them":   {"out/model/b.safetensors", append(resultstest.Safetensors(64), "PK"...)},
		"weights with a header that lies": {"out/model/b.safetensors", bytes.Replace(resultstest.Safetensors(64), []byte("[32,2]"), []byte("[33,2]"), 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := resultstest.New(t)
			f.Write(t, tc.path, tc.body)
			f.List(t, tc.path)
			f.WriteJSON(t, results.ResultFile, f.Result)
			_, _, err := results.Read(f.Run(), resultstest.TestRun, 1)
			require.Error(t, err)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind, err.Error())
		})
	}
}

func TestReadAcceptsANetworkInTheFormOfONNX(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	f.Write(t, "out/model/model.onnx", []byte("\x08\x0a\x12\x07pytorch"))
	f.List(t, "out/model/model.onnx")
	f.WriteJSON(t, results.ResultFile, f.Result)
	_, _, err := results.Read(f.Run(), resultstest.TestRun, 1)
	require.NoError(t, err)
}

func TestReadOfAFailure(t *testing.T) {
	t.Parallel()
	failure := results.Failure{Schema: 1, Run: resultstest.TestRun, Attempt: 2, Code: "one_class", What: "Column label of train.csv has one value only.", Do: "Add rows of another class.", User: true}
	for name, tc := range map[string]struct {
		attempt int
		after   func(t *testing.T, f *resultstest.Fixture)
		want    *results.Failure
		result  bool
		missing bool
	}{
		"of this attempt":                      {attempt: 2, want: &failure, after: removeResult},
		"of an earlier attempt is no failure":  {attempt: 3, missing: true, after: removeResult},
		"beside a good result counts nothing":  {attempt: 2, result: true},
		"beside a broken result is the reason": {attempt: 2, want: &failure, after: func(t *testing.T, f *resultstest.Fixture) { t.Helper(); f.Write(t, "out/predictions.csv", nil) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := resultstest.New(t)
			f.WriteJSON(t, results.FailureFile, failure)
			if tc.after != nil {
				tc.after(t, f)
			}
			result, got, err := results.Read(f.Run(), resultstest.TestRun, tc.attempt)
			require.Equal(t, tc.want, got)
			require.Equal(t, tc.result, result != nil)
			require.Equal(t, tc.missing, err != nil)
			if tc.missing {
				require.ErrorIs(t, err, fs.ErrNotExist)
			}
		})
	}
	require.Equal(t, "Column label of train.csv has one value only. Add rows of another class", failure.Sentence())
}

func TestSentenceIsOneShortLine(t *testing.T) {
	t.Parallel()
	f := results.Failure{What: "a\nb\x00c\u202ed", Why: strings.Repeat("ü", 1000), Do: "x"}
	require.LessOrEqual(t, utf8.RuneCountInString(f.Sentence()), results.MaxSentence)
	require.True(t, strings.HasPrefix(f.Sentence(), "a b cd. "), f.Sentence())
}

// TestWhatAFailedScriptLeftIsRead: a file of any kind may be among it, since its user gets it.
func TestWhatAFailedScriptLeftIsRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change  func(t *testing.T, f *resultstest.Fixture)
		attempt int
		kind    job.Kind
		text    string
		nothing bool
	}{
		"as it should be": {attempt: 1},
		"nothing was left": {attempt: 1, nothing: true, change: func(t *testing.T, f *resultstest.Fixture) {
			t.Helper()
			require.NoError(t, os.Remove(f.Path(results.PartialFile)))
		}},
		"of an earlier attempt": {attempt: 2, nothing: true},
		"a file that changed": {attempt: 1, kind: job.KindRetryable, text: "out/ckpt.pt", change: func(t *testing.T, f *resultstest.Fixture) {
			t.Helper()
			f.Write(t, "out/ckpt.pt", []byte("out/ckpt.p_\n"))
		}},
		"a file that is gone": {attempt: 1, kind: job.KindRetryable, text: "missing", change: func(t *testing.T, f *resultstest.Fixture) {
			t.Helper()
			require.NoError(t, os.Remove(f.Path("out/ckpt.pt")))
		}},
		"a pipe in the place of a file": {attempt: 1, kind: job.KindPermanent, text: "a pipe", change: func(t *testing.T, f *resultstest.Fixture) {
			t.Helper()
			require.NoError(t, os.Remove(f.Path("out/ckpt.pt")))
			require.NoError(t, syscall.Mkfifo(f.Path("out/ckpt.pt"), 0o600))
		}},
		"a whole result in its place": {attempt: 1, kind: job.KindPermanent, text: "partial result", change: func(t *testing.T, f *resultstest.Fixture) {
			t.Helper()
			f.Result.Partial = false
			f.WriteJSON(t, results.PartialFile, f.Result)
		}},
		"half a file": {attempt: 1, kind: job.KindPermanent, text: "decode", change: func(t *testing.T, f *resultstest.Fixture) {
			t.Helper()
			f.Write(t, results.PartialFile, []byte(`{"schema":2`))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := resultstest.NewGolden(t, "result-script-partial.json")
			if tc.change != nil {
				tc.change(t, f)
			}
			left, err := results.ReadPartial(f.Run(), f.Result.Run, tc.attempt)
			if tc.text != "" {
				require.ErrorContains(t, err, tc.text)
				kind, _ := job.Classify(err)
				require.Equal(t, tc.kind, kind)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.nothing, left == nil)
		})
	}
	f := resultstest.NewGolden(t, "result-script-partial.json")
	f.WriteJSON(t, results.ResultFile, f.Result)
	_, _, err := results.Read(f.Run(), f.Result.Run, 1)
	require.ErrorContains(t, err, "partial result", "what a failed script left is never a result")
}

func removeResult(t *testing.T, f *resultstest.Fixture) {
	t.Helper()
	require.NoError(t, os.Remove(f.Path(results.ResultFile)))
}

func FuzzDecodeResult(f *testing.F) {
	fix := resultstest.New(f)
	doc, err := json.Marshal(fix.Result)
	require.NoError(f, err)
	f.Add(doc)
	for _, name := range resultstest.GoldenResults {
		f.Add(resultstest.Golden(f, name))
	}
	f.Add([]byte(`{"schema":2,"artifacts":[{"path":"out/../x"}]}`))
	safe := regexp.MustCompile(`^[a-z0-9-]{1,80}$`)
	f.Fuzz(func(t *testing.T, doc []byte) {
		r, err := results.DecodeResult(doc)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		for _, o := range r.Outputs {
			require.True(t, filepath.IsLocal(o.Path))
			require.True(t, strings.HasPrefix(o.Path, "out/"))
		}
		require.NotEmpty(t, report.NewVerdict(r).Sentence)
		for _, part := range delivery.Folder(fix.Meta, r) {
			require.True(t, safe.MatchString(part), part)
		}
		require.NoError(t, report.Write(io.Discard, nil, r, fix.Meta))
		_, err = json.Marshal(delivery.Metadata(fix.Meta, r))
		require.NoError(t, err)
	})
}

func FuzzDecodeFailure(f *testing.F) {
	f.Add([]byte(`{"schema":1,"run":"ft-1","attempt":1,"code":"x","what":"It broke.","why":"So.","do":"Try again.","user":true}`))
	f.Add([]byte(`{"schema":1,"run":"ft-1","attempt":1,"code":"x","what":"\u001b[2J\n\u202e","do":"\ud800"}`))
	f.Add([]byte(`{"schema":2}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		failure, err := results.DecodeFailure(doc)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		sentence := failure.Sentence()
		require.LessOrEqual(t, utf8.RuneCountInString(sentence), results.MaxSentence)
		require.NotContains(t, sentence, "\n")
		require.NotContains(t, sentence, "\x1b")
	})
}
