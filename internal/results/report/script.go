package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// scriptPart shows what a script of a user was, did and left. All of it but the facts is the word of the script.
type scriptPart struct {
	Facts   []pair
	Numbers figureTable
	// Findings are the hints of the static check.
	Findings figureTable
	// Starts is empty where the script was started once.
	Starts  figureTable
	Outputs figureTable
	LeftOut figureTable
	// More counts the outputs that the table does not show.
	More     string
	Code     []pair
	Curves   *scriptCurves
	Pictures []scriptPicture
	LogEnd   string
}

func newScriptPart(r *results.Result, files Files) *scriptPart {
	return &scriptPart{
		Facts: scriptFacts(r), Numbers: scriptNumbers(r.Script), Findings: scriptFindings(r.Script), Starts: scriptStarts(r.Script),
		Outputs: scriptOutputs(r), LeftOut: scriptLeftOut(r.Script), More: moreRows(len(r.Outputs)), Code: codeFacts(r.Script),
		Curves: newScriptCurves(r, files), Pictures: newScriptPictures(r, files), LogEnd: logEnd(files.LogEnd),
	}
}

func scriptFacts(r *results.Result) []pair {
	s := r.Script
	out := []pair{
		{"Command", text.Shorten(commandLine(s.Command), 2000)},
		{"Code", fmt.Sprintf("%s, sha256 %s", text.Count(len(s.Code), "file"), text.Shorten(results.Plain(s.CodeSHA256, ""), 19))},
		{"Sandbox", sandboxWords(s.Sandbox)},
		{"Launcher", launcherWords(s)},
		{"End", endWords(r)},
	}
	if n := s.Resumes(); n > 0 {
		out = append(out, pair{"Starts", fmt.Sprintf("%d, see below", len(s.Starts))})
	}
	if len(s.Requirements) > 0 {
		out = append(out, pair{"Packages added", results.Plain(text.ListSome(s.Requirements, maxRows, 60), "")})
	}
	if s.Usage.CPUSeconds > 0 {
		out = append(out, pair{"CPU time", text.Duration(results.Seconds(s.Usage.CPUSeconds))})
	}
	if s.Usage.PeakMemoryBytes > 0 {
		out = append(out, pair{"Peak memory", text.Bytes(s.Usage.PeakMemoryBytes)})
	}
	printed := text.Count(s.Lines, "line")
	if s.LogCut > 0 {
		printed += fmt.Sprintf("; %s of it are not in the log, because it was too long", text.Bytes(s.LogCut))
	}
	return append(out, pair{"Printed", printed})
}

// commandLine writes a command so that a shell reads the same words.
func commandLine(words []string) string {
	quoted := make([]string, 0, min(len(words), maxRows))
	for _, w := range words[:min(len(words), maxRows)] {
		w = text.OneLine(w)
		if w == "" || strings.ContainsFunc(w, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./,:@%+", r)
		}) {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted = append(quoted, w)
	}
	return strings.Join(quoted, " ")
}

func sandboxWords(s results.Sandbox) string {
	words := map[string]string{
		results.SandboxBubblewrap: "bubblewrap", results.SandboxGVisor: "gVisor", results.SandboxPod: "a pod of its own",
	}[s.Name]
	if words == "" {
		return "none: the script could read and change whatever the training service can"
	}
	if s.Version != "" {
		words += " " + text.Excerpt(s.Version, 40)
	}
	if s.Network {
		return words + "; with network"
	}
	return words + "; without network"
}

func launcherWords(s *results.Script) string {
	words := results.Plain(s.Launcher, "")
	if s.Processes > 1 || s.Nodes > 1 {
		words += ", " + text.Count(s.Processes, "process")
	}
	if s.Nodes > 1 {
		words += fmt.Sprintf(" on each of %d nodes", s.Nodes)
	}
	return words
}

func endWords(r *results.Result) string {
	end := endOf(r.Script.Exit)
	switch r.Script.StoppedBy() {
	case "user":
		end = "stopped by a user"
	case "time":
		end = "ended at the time limit"
	}
	if end == "" {
		end = "not known"
	}
	return text.Capital(end) + ", after " + text.Duration(results.Seconds(r.Script.Seconds))
}

// scriptNumbers has the metric first, then the numbers by name.
func scriptNumbers(s *results.Script) figureTable {
	t := figureTable{Heads: []string{"Number", "Last value", "Source"}}
	names := slices.Sorted(maps.Keys(s.Numbers))
	if s.Metric != nil {
		t.Rows = append(t.Rows, []string{text.Excerpt(s.Metric.Name, 80), scriptFigure(s.Metric.Value), sourceName(s.Metric.Source)})
		names = slices.DeleteFunc(names, func(name string) bool { return name == s.Metric.Name })
	}
	for _, name := range names[:min(len(names), maxRows)] {
		n := s.Numbers[name]
		t.Rows = append(t.Rows, []string{results.Plain(text.Excerpt(name, 80), "(no name)"), scriptFigure(n.Value), sourceName(n.Source)})
	}
	return t
}

func sourceName(source string) string {
	switch source {
	case "log":
		return "printed"
	case "tensorboard":
		return "TensorBoard"
	default:
		return text.Excerpt(source, 80)
	}
}

// scriptFindings has the gravest first.
func scriptFindings(s *results.Script) figureTable {
	t := figureTable{Heads: []string{"Severity", "File and line", "What the check found"}}
	rank := map[string]int{"high": 0, "medium": 1, "low": 2}
	found := slices.SortedStableFunc(slices.Values(s.Findings), func(a, b results.Finding) int { return rank[a.Severity] - rank[b.Severity] })
	for _, f := range found[:min(len(found), maxRows)] {
		t.Rows = append(t.Rows, []string{
			results.Plain(f.Severity, ""), fmt.Sprintf("%s, line %d", text.Excerpt(f.File, 120), f.Line),
			fmt.Sprintf("%s (%s)", strings.TrimSuffix(text.Excerpt(f.Text, 300), "."), text.Excerpt(f.ID, 20)),
		})
	}
	return t
}

func scriptStarts(s *results.Script) figureTable {
	t := figureTable{Heads: []string{"Start", "Began with", "Time", "End"}}
	if len(s.Starts) < 2 {
		return t
	}
	for _, start := range s.Starts[:min(len(s.Starts), maxRows)] {
		from := "nothing"
		if start.ResumedFrom != nil {
			from = text.Excerpt(*start.ResumedFrom, 120)
		}
		end := endOf(start.Exit)
		if end == "" {
			end = "lost with its machine or its worker"
		}
		t.Rows = append(t.Rows, []string{fmt.Sprintf("%d (attempt %d)", start.Start, start.Attempt), from, text.Duration(results.Seconds(start.Seconds)), end})
	}
	return t
}

func scriptOutputs(r *results.Result) figureTable {
	t := figureTable{Heads: []string{"File", "Size", "sha256"}}
	outputs := slices.SortedFunc(slices.Values(r.Outputs), func(a, b results.Output) int { return strings.Compare(a.Path, b.Path) })
	for _, o := range outputs[:min(len(outputs), maxRows)] {
		t.Rows = append(t.Rows, []string{text.Excerpt(strings.TrimPrefix(o.Path, results.OutDir), 160), text.Bytes(o.Size), text.Shorten(o.SHA256, 13)})
	}
	return t
}

func scriptLeftOut(s *results.Script) figureTable {
	t := figureTable{Heads: []string{"File", "Why it is not delivered"}}
	for _, l := range s.LeftOut[:min(len(s.LeftOut), maxRows)] {
		t.Rows = append(t.Rows, []string{text.Excerpt(l.Path, 160), results.Plain(l.Reason, "no reason was given")})
	}
	return t
}

// moreRows counts what a table does not show.
func moreRows(n int) string {
	if n <= maxRows {
		return ""
	}
	return "and " + text.Count(n-maxRows, "more file")
}

func codeFacts(s *results.Script) []pair {
	var out []pair
	for _, c := range s.Code[:min(len(s.Code), maxRows)] {
		out = append(out, pair{text.Excerpt(c.Path, 160), fmt.Sprintf("%s bytes, sha256 %s", text.Number(c.Size), text.Shorten(c.SHA256, 19))})
	}
	return out
}
