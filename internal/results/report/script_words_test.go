package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
)

func TestACommandCanBeCopiedIntoAShell(t *testing.T) {
	t.Parallel()
	for want, words := range map[string][]string{
		"":                               {},
		"python -u train.py --lr=1e-4":   {"python", "-u", "train.py", "--lr=1e-4"},
		"run ''":                         {"run", ""},
		"echo 'a b'":                     {"echo", "a b"},
		`echo 'it'\''s'`:                 {"echo", "it's"},
		"echo '$HOME' '`id`' 'a;b' '>f'": {"echo", "$HOME", "`id`", "a;b", ">f"},
		"cat 'für.txt'":                  {"cat", "für.txt"},
		"python a@b,c:d%e+f/g_h.py":      {"python", "a@b,c:d%e+f/g_h.py"},
		"echo 'two lines and a bell'":    {"echo", "two\nlines and\x07a bell"},
	} {
		require.Equal(t, want, commandLine(words))
	}
	many := strings.Fields(strings.Repeat("x ", maxRows+50))
	require.Len(t, strings.Fields(commandLine(many)), maxRows)
}

func TestTheFactsOfAScriptAreSaidInWords(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]results.Sandbox{
		"bubblewrap 0.11.0; without network":                                       {Name: results.SandboxBubblewrap, Version: "0.11.0"},
		"gVisor; with network":                                                     {Name: results.SandboxGVisor, Network: true},
		"a pod of its own; without network":                                        {Name: results.SandboxPod},
		"none: the script could read and change whatever the training service can": {Name: results.SandboxNone, Version: "1", Network: true},
	} {
		require.Equal(t, want, sandboxWords(s))
	}
	for want, s := range map[string]*results.Script{
		"python":                {Launcher: "python", Processes: 1, Nodes: 1},
		"torchrun, 4 processes": {Launcher: "torchrun", Processes: 4, Nodes: 1},
		"torchrun, 2 processes on each of 3 nodes": {Launcher: "torchrun", Processes: 2, Nodes: 3},
		"torchrun, 1 process on each of 2 nodes":   {Launcher: "torchrun", Processes: 1, Nodes: 2},
	} {
		require.Equal(t, want, launcherWords(s))
	}
	for source, want := range map[string][2]string{
		"log":          {"printed", "from what it printed"},
		"tensorboard":  {"TensorBoard", "from its TensorBoard files"},
		"metrics.json": {"metrics.json", "from metrics.json"},
		"a\n\x1b[2Jb":  {"a [2Jb", "from a [2Jb"},
	} {
		require.Equal(t, want, [2]string{sourceName(source), sourceWords(source)})
	}
}

func TestTheEndOfAScriptIsSaidInWords(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script results.Script
		want   string
	}{
		"it finished":         {results.Script{Seconds: 35, Exit: results.ScriptExit{Code: new(0)}}, "With exit code 0, after 35 s"},
		"nobody knows":        {results.Script{Seconds: 0.2}, "Not known, after 0.2 s"},
		"a user":              {results.Script{Seconds: 60, Stopped: new("user"), Exit: results.ScriptExit{Code: new(0)}}, "Stopped by a user, after 60 s"},
		"the time limit":      {results.Script{Seconds: 60, Stopped: new("time"), Exit: results.ScriptExit{Signal: new(15)}}, "Ended at the time limit, after 60 s"},
		"a limit of its own":  {results.Script{Seconds: 60, Exit: results.ScriptExit{Exceeded: "disk"}}, "At its limit of disk, after 60 s"},
		"a signal of no name": {results.Script{Seconds: 60, Exit: results.ScriptExit{Signal: new(42)}}, "By signal 42, after 60 s"},
		"a signal and a code": {results.Script{Seconds: 60, Exit: results.ScriptExit{Signal: new(11), Code: new(139)}}, "By signal 11 (SIGSEGV), after 60 s"},
	} {
		require.Equal(t, tc.want, endWords(&results.Result{Script: &tc.script}), name)
	}
}

func TestTheMetricOfAScriptStandsAboveItsOtherNumbers(t *testing.T) {
	t.Parallel()
	s := &results.Script{
		Metric: &results.ScriptMetric{Name: "val_loss", Value: 1.25, Source: "log"},
		Numbers: map[string]results.ScriptNumber{
			"val_loss": {Value: 1.25, Source: "log"}, "b": {Value: 123456789, Source: "tensorboard"}, "a": {Value: 0.1, Source: "metrics.json"}, "\n": {Value: 1, Source: "log"},
		},
	}
	require.Equal(t, [][]string{
		{"val_loss", "1.25", "printed"}, {"(no name)", "1", "printed"}, {"a", "0.1", "metrics.json"}, {"b", "1.23457e+08", "TensorBoard"},
	}, scriptNumbers(s).Rows)
	require.Empty(t, scriptNumbers(&results.Script{}).Rows)
}

func TestTheStartsOfAScriptAreShownWhereThereAreSeveral(t *testing.T) {
	t.Parallel()
	s := &results.Script{Starts: []results.ScriptStart{{Attempt: 1, Start: 1, Seconds: 20}}}
	require.Empty(t, scriptStarts(s).Rows)
	s.Starts = append(s.Starts, results.ScriptStart{Attempt: 2, Start: 2, Seconds: 61, ResumedFrom: new("out/ckpt.pt"), Exit: results.ScriptExit{Code: new(0)}})
	require.Equal(t, [][]string{
		{"1 (attempt 1)", "nothing", "20 s", "lost with its machine or its worker"}, {"2 (attempt 2)", "out/ckpt.pt", "61 s", "with exit code 0"},
	}, scriptStarts(s).Rows)
}

func TestTablesOfAScriptAreBoundedAndCountTheRest(t *testing.T) {
	t.Parallel()
	s := &results.Script{Launcher: "python", Lines: 1, LogCut: 3 << 20}
	r := &results.Result{Kind: results.ResultScript, Script: s}
	for i := range maxRows + 7 {
		name := fmt.Sprintf("%03d", maxRows+6-i)
		r.Outputs = append(r.Outputs, results.Output{Path: results.OutDir + name, Size: int64(i), SHA256: strings.Repeat("a", 64)})
		s.Code = append(s.Code, results.CodeFile{Path: name, Size: 2048, SHA256: strings.Repeat("b", 64)})
		s.LeftOut = append(s.LeftOut, results.LeftOut{Path: name})
		s.Findings = append(s.Findings, results.Finding{ID: "B1", File: name, Line: i, Severity: "low", Text: "Odd."})
	}
	s.Findings = append(s.Findings, results.Finding{ID: "B9", File: "last.py", Line: 9, Severity: "high", Text: "Bad."})
	part := newScriptPart(r, Files{})
	require.Equal(t, []string{"000", "106 B", strings.Repeat("a", 12) + "…"}, part.Outputs.Rows[0], "by name, without the folder")
	require.Equal(t, "and 7 more files", part.More)
	require.Equal(t, pair{"106", "2,048 bytes, sha256 " + strings.Repeat("b", 18) + "…"}, part.Code[0])
	require.Equal(t, []string{"106", "no reason was given"}, part.LeftOut.Rows[0])
	require.Equal(t, []string{"high", "last.py, line 9", "Bad (B9)"}, part.Findings.Rows[0], "the gravest first")
	for name, rows := range map[string]int{"outputs": len(part.Outputs.Rows), "code": len(part.Code), "left out": len(part.LeftOut.Rows), "findings": len(part.Findings.Rows)} {
		require.Equal(t, maxRows, rows, name)
	}
	require.Contains(t, part.Facts, pair{"Printed", "1 line; 3 MiB of it are not in the log, because it was too long"})
	require.Empty(t, part.Pictures)
	require.Nil(t, part.Curves)
	require.Empty(t, moreRows(maxRows))
	require.Equal(t, "and 1 more file", moreRows(maxRows+1))
}

func TestWhatAScriptUsedIsAFactWhereItIsKnown(t *testing.T) {
	t.Parallel()
	names := func(s *results.Script) (all []string) {
		for _, f := range scriptFacts(&results.Result{Script: s}) {
			all = append(all, f.Name)
		}
		return all
	}
	require.Equal(t, []string{"Command", "Code", "Sandbox", "Launcher", "End", "Printed"}, names(&results.Script{}))
	require.Equal(t, []string{"Command", "Code", "Sandbox", "Launcher", "End", "Starts", "Packages added", "CPU time", "Peak memory", "Printed"}, names(&results.Script{
		Starts: make([]results.ScriptStart, 2), Requirements: []string{"a==1"}, Usage: results.ScriptUsage{CPUSeconds: 1, PeakMemoryBytes: 1},
	}))
}

func TestTheNameOfACurveTellsItsSubjectAndItsData(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		subject string
		role    chart.Role
	}{
		"loss":                {"loss", chart.RoleTrain},
		"train/loss":          {"loss", chart.RoleTrain},
		"Training Loss":       {"Loss", chart.RoleTrain},
		"eval_loss":           {"loss", chart.RoleValidation},
		"VAL-acc.top1":        {"acc top1", chart.RoleValidation},
		"test/mean_iou":       {"mean iou", chart.RoleValidation},
		"validate":            {"validate", chart.RoleTrain},
		"dev":                 {"", chart.RoleValidation},
		"":                    {"", chart.RoleTrain},
		"epoch/valid/f1/best": {"epoch f1 best", chart.RoleValidation},
	} {
		subject, role := subjectOf(name)
		require.Equal(t, want.subject, subject, name)
		require.Equal(t, want.role, role, name)
	}
}

func TestCurvesOfOneQuantityShareAChart(t *testing.T) {
	t.Parallel()
	points := []chart.Point{{X: 0, Y: 2}, {X: 1, Y: 1}, {X: 2, Y: 0.5}}
	curve := func(folder, name string) namedCurve { return namedCurve{folder, name, points} }
	for name, tc := range map[string]struct {
		curves []namedCurve
		metric *results.ScriptMetric
		want   []string
	}{
		"training and validation": {[]namedCurve{curve("", "train/loss"), curve("", "val/loss")}, nil, []string{"loss: 2"}},
		"alone, by its own name":  {[]namedCurve{curve("", "val/loss")}, nil, []string{"val/loss: 1"}},
		"the metric, then losses, then the rest by name": {
			[]namedCurve{curve("", "zeta"), curve("", "lr"), curve("", "aux_loss"), curve("", "mIoU")},
			&results.ScriptMetric{Name: "mIoU"},
			[]string{"mIoU: 1", "aux_loss: 1", "lr: 1", "zeta: 1"},
		},
		"two of one role have a chart each":  {[]namedCurve{curve("", "val/loss"), curve("", "test/loss")}, nil, []string{"val/loss: 1", "test/loss: 1"}},
		"folders are apart and named":        {[]namedCurve{curve("a", "loss"), curve("b", "loss")}, nil, []string{"a: loss: 1", "b: loss: 1"}},
		"a name without an end is shortened": {[]namedCurve{curve("", strings.Repeat("x", 99))}, nil, []string{strings.Repeat("x", 43) + "…: 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, c := range groupCharts(tc.curves, tc.metric) {
				got = append(got, fmt.Sprintf("%s: %d", c.Title, len(c.Lines)))
			}
			require.Equal(t, tc.want, got)
		})
	}
}
