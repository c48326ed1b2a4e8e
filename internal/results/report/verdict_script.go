package report

import (
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// scriptVerdict says how a script ended. Nobody but the user knows whether its numbers are good, so it does not judge them.
func scriptVerdict(r *results.Result) Verdict {
	s := r.Script
	v := Verdict{Grade: GradeGood, Word: "The script finished"}
	switch {
	case r.Partial:
		v.Grade, v.Word = GradeBad, "The script failed"
		if why := endOf(s.Exit); why != "" {
			v.Word += " " + why
		}
	case s.StoppedBy() == "user":
		v.Grade, v.Word = GradeWeak, "The script was stopped early"
	case s.StoppedBy() == "time":
		v.Grade, v.Word = GradeWeak, "The time limit ended the script"
	}
	var words []string
	if m := s.Metric; m != nil {
		words = append(words, fmt.Sprintf("%s %s (%s)", text.Excerpt(m.Name, 60), scriptFigure(m.Value), sourceWords(m.Source)))
	}
	words = append(words, outputsCount(r))
	if n := s.Resumes(); n > 0 {
		words = append(words, "started again "+text.Times(n))
	}
	took := text.Duration(results.Seconds(s.Seconds))
	v.Figures = "It ran for " + took + ": " + strings.Join(words, "; ")
	v.Sentence = v.Word + " after " + took + ": " + strings.Join(words, "; ")
	if s.Sandbox.Name == results.SandboxNone {
		v.Help = noSandbox
	}
	return v
}

// noSandbox is said in every report of a script that nothing contained.
const noSandbox = "This script ran without a sandbox, because the administrator allows that: it could read and change whatever the training service can."

// outputsCount counts the files that a script leaves.
func outputsCount(r *results.Result) string {
	words := text.Count(len(r.Outputs), "file")
	if r.Partial {
		return words + " from before the failure"
	}
	return words
}

// signals are those that end scripts, by their numbers.
var signals = map[int]string{1: "SIGHUP", 2: "SIGINT", 4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 15: "SIGTERM"}

// endOf says how a start ended, as "with exit code 3"; empty where nobody knows.
func endOf(e results.ScriptExit) string {
	var words string
	switch {
	case e.Signal != nil:
		words = fmt.Sprintf("by signal %d", *e.Signal)
		if name := signals[*e.Signal]; name != "" {
			words += " (" + name + ")"
		}
	case e.Code != nil:
		words = fmt.Sprintf("with exit code %d", *e.Code)
	}
	if e.Exceeded != "" {
		words = strings.TrimSpace(words + " at its limit of " + results.Plain(e.Exceeded, ""))
	}
	return words
}

// sourceWords says where a number of a script comes from.
func sourceWords(source string) string {
	switch source {
	case "log":
		return "from what it printed"
	case "tensorboard":
		return "from its TensorBoard files"
	default:
		return "from " + text.Excerpt(source, 80)
	}
}

// scriptFigure writes a number of a script, of which nobody knows what it means.
func scriptFigure(v float64) string { return text.Significant(v) }
