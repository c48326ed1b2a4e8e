package report

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// scriptReport is the report of a script that left pictures, TensorBoard files and a long log.
func scriptReport(tb testing.TB) string {
	tb.Helper()
	r := scriptResult(tb, "result-script.json")
	s := r.Script
	s.Sandbox = results.Sandbox{Name: results.SandboxNone}
	s.Command = append(s.Command, "--name=it's a long name that somebody gave", "", strings.Repeat("x", 120))
	for i, severity := range []string{"low", "high", "medium"} {
		s.Findings = append(s.Findings, results.Finding{ID: fmt.Sprintf("B30%d", i), File: strings.Repeat("deep/", 12) + "train.py", Line: 10 * i, Severity: severity, Confidence: "high", Text: "Use of " + severity + " things."})
	}
	s.Numbers["a/very/long/name/"+strings.Repeat("z", 90)] = results.ScriptNumber{Value: 1.23456789e-12, Source: "metrics.json"}
	s.LeftOut = append(s.LeftOut, results.LeftOut{Path: "huge.bin", Reason: "It has 20 GB, and a file may have 10 GB."})
	files := map[string][]byte{"out/figures/1.png": pngPicture(tb, 1200, 700), "out/not-a-picture.png": []byte("<svg onload=alert(1)>"), "out/page.html": []byte("<script>alert(1)</script>")}
	boards, err := filepath.Glob("../tensorboard/testdata/*/*")
	require.NoError(tb, err)
	for _, p := range boards {
		doc, err := os.ReadFile(p)
		require.NoError(tb, err)
		files["out/runs/"+filepath.Base(filepath.Dir(p))+"/"+filepath.Base(p)] = doc
	}
	r.Outputs = nil
	for name, body := range files {
		r.Outputs = append(r.Outputs, results.Output{Path: name, Size: int64(len(body)), SHA256: strings.Repeat("a", 64)})
	}
	var out bytes.Buffer
	require.NoError(tb, WriteScript(&out, resultstest.LikelyEvents(tb, r), r, resultstest.LikelyMeta(r), Files{
		Open: func(o results.Output) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(files[o.Path])), nil
		},
		LogEnd: strings.Repeat("step 500: train loss 1.7421, val loss 1.8936 <b>\x1b[0m "+strings.Repeat("=", 200)+"\n", 100),
	}))
	return out.String()
}

func scriptResult(tb testing.TB, name string) *results.Result {
	tb.Helper()
	r, err := results.DecodeResult(resultstest.Golden(tb, name))
	require.NoError(tb, err)
	return r
}

func TestReportOfAScriptShowsWhatItLeft(t *testing.T) {
	t.Parallel()
	page := scriptReport(t)
	requireSelfContained(t, page)
	words := visible(t, page)
	for _, want := range []string{
		"This script ran without a sandbox", "none: the script could read", `'--name=it'\''s a long name that somebody gave' ''`, "Start", "out/ckpt.pt",
		"lost with its machine", "4 remarks of the check", "The sandbox is the protection", "From the TensorBoard files", "runs/trainer: loss", "Not drawn: 1 value (NaN or infinite)", "TensorBoard", "figures/1.png",
		"It has 20 GB", "val_loss", "1.23457e-12", "metrics.json", "tiktoken==0.12.0",
	} {
		require.Contains(t, words, want)
	}
	require.Equal(t, 1, strings.Count(page, "<img "), "the one true picture")
	require.NotContains(t, page, "alert(1)", "what the script wrote as a page")
	require.LessOrEqual(t, strings.Count(words, "step 500"), LogLines)
	require.Less(t, strings.Index(words, "deep/deep"), strings.LastIndex(words, "configurator.py, line 26"), "the gravest finding comes first")
}

func TestCurvesOfAScriptComeFromItsLogWithoutTensorBoard(t *testing.T) {
	t.Parallel()
	r := scriptResult(t, "result-script.json")
	page := newPage(nil, r, resultstest.LikelyMeta(r), Files{})
	require.Equal(t, "Read from the lines that the script printed.", page.Script.Curves.Source)
	require.Len(t, page.Script.Curves.First, 1, "training and validation loss share a chart")
	chart := page.Script.Curves.First[0]
	require.Equal(t, "loss", chart.Title)
	require.Equal(t, "training", chart.Lines[0].Name)
	require.Equal(t, "validation", chart.Lines[1].Name)

	r.Script.Series = nil
	require.Nil(t, newPage(nil, r, resultstest.LikelyMeta(r), Files{}).Script.Curves)
}

func TestFilesThatCannotBeReadLeaveTheReportWhole(t *testing.T) {
	t.Parallel()
	r := scriptResult(t, "result-script.json")
	r.Outputs = append(r.Outputs, results.Output{Path: "out/events.out.tfevents.1", Size: 3, SHA256: strings.Repeat("a", 64)})
	page := newPage(nil, r, resultstest.LikelyMeta(r), Files{Open: func(results.Output) (io.ReadCloser, error) { return nil, errors.New("gone") }})
	require.Empty(t, page.Script.Pictures)
	require.Contains(t, page.Script.Curves.Notes[0], "out/events.out.tfevents.1")
	require.NotEmpty(t, page.Script.Curves.First, "those of the log")
}

func TestVerdictOfAScriptSaysHowItEnded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		golden   string
		change   func(r *results.Result)
		grade    Grade
		sentence string
	}{
		"it finished":       {"result-script.json", func(*results.Result) {}, GradeGood, "The script finished after 1 min 33 s: val_loss 1.8936 (from what it printed); 2 files; started again once"},
		"without numbers":   {"result-script.json", func(r *results.Result) { r.Script.Metric, r.Script.Starts = nil, nil }, GradeGood, "The script finished after 1 min 33 s: 2 files"},
		"a user stopped it": {"result-script.json", func(r *results.Result) { r.Script.Stopped = new("user") }, GradeWeak, "The script was stopped early after 1 min 33 s"},
		"the time was over": {"result-script.json", func(r *results.Result) { r.Script.Stopped = new("time") }, GradeWeak, "The time limit ended the script after 1 min 33 s"},
		"it failed":         {"result-script-partial.json", func(*results.Result) {}, GradeBad, "The script failed with exit code 1 after 1 min 33 s: val_loss 1.8936 (from what it printed); 1 file from before the failure"},
		"it was killed": {"result-script-partial.json", func(r *results.Result) {
			r.Script.Exit = results.ScriptExit{Signal: new(9), Exceeded: "memory"}
		}, GradeBad, "The script failed by signal 9 (SIGKILL) at its limit of memory after"},
		"nobody saw it end": {"result-script-partial.json", func(r *results.Result) { r.Script.Exit = results.ScriptExit{} }, GradeBad, "The script failed after 1 min 33 s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := scriptResult(t, tc.golden)
			tc.change(r)
			v := NewVerdict(r)
			require.Equal(t, tc.grade, v.Grade)
			require.True(t, strings.HasPrefix(v.Sentence, tc.sentence), v.Sentence)
		})
	}
}

func TestTheReportOfAFailedScriptSaysWhy(t *testing.T) {
	t.Parallel()
	r := scriptResult(t, "result-script-partial.json")
	m := resultstest.LikelyMeta(r)
	m.Failure = "The script ended with exit code 1: ValueError: <b>. Look at the end of the log"
	var out bytes.Buffer
	require.NoError(t, Write(&out, nil, r, m))
	require.Contains(t, visible(t, out.String()), "The script ended with exit code 1: ValueError: <b>. Look at the end of the log")
}

func pngPicture(tb testing.TB, width, height int) []byte {
	tb.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		for y := range height {
			img.Set(x, y, color.RGBA{R: uint8(x % 256), G: uint8(y % 256), B: 128, A: 255})
		}
	}
	var out bytes.Buffer
	require.NoError(tb, png.Encode(&out, img))
	return out.Bytes()
}
