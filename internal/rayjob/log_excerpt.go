package rayjob

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/text"
)

// MaxReason is the longest text of an Observation, in characters.
const MaxReason = 300

// maxScanned is how many lines from the end of a log LastError reads.
const maxScanned = 200

var (
	// colour matches a terminal escape sequence.
	colour = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]")
	// origin matches what Ray puts before a line of another process: "(RayTrainWorker pid=12, ip=10.0.0.3) ".
	origin = regexp.MustCompile(`^(\([^()]{0,80}\bpid=\d+[^()]{0,80}\) ?)+`)
	// errorLine matches the last line of a traceback: "ValueError: text" or "torch.OutOfMemoryError: text".
	errorLine = regexp.MustCompile(`^([A-Za-z_][\w.]*\.)?([A-Z]\w*(Error|Exception|Exit|Interrupt|Failure|Warning)): +\S`)
	// noises are the beginnings of lines that explain nothing.
	noises = []string{
		"Traceback (most recent", "File \"", "During handling of", "The above exception", "ray::", "Running entrypoint for job",
		"^", "~", "---", "===", "***",
	}
	// stamped matches a line of a logging library, which rarely names the error.
	stamped = regexp.MustCompile(`^(\[?\d{4}-\d{2}-\d{2}[ T,]|\d{2}:\d{2}:\d{2}|\[?(DEBUG|INFO|WARNING)\b)`)
)

// OneLine makes a text of another program fit for a status: one printable line of at most limit characters. It removes
// terminal colours, and otherwise works as text.Excerpt.
func OneLine(s string, limit int) string { return text.Excerpt(colour.ReplaceAllString(s, ""), limit) }

// LastError returns the line near the end of a program's output that best says what went wrong: the last line of the last
// traceback, or else the last line that no logging library wrote. It returns "" if no line is useful.
func LastError(log string) string {
	var last, logged string
	for range maxScanned {
		log = strings.TrimRight(log, "\r\n")
		if log == "" {
			break
		}
		start := strings.LastIndexByte(log, '\n') + 1
		raw := origin.ReplaceAllString(colour.ReplaceAllString(log[start:], ""), "")
		line := OneLine(raw, MaxReason)
		log = log[:start]
		switch {
		case line == "" || indented(raw) || noise(line):
		case errorLine.MatchString(line):
			return line
		case stamped.MatchString(line):
			if logged == "" {
				logged = line
			}
		case last == "":
			last = line
		}
	}
	if last != "" {
		return last
	}
	return logged
}

func indented(line string) bool {
	return strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
}

// noise reports a line within a traceback, or a line that Ray itself writes to every log.
func noise(line string) bool {
	return slices.ContainsFunc(noises, func(start string) bool { return strings.HasPrefix(line, start) }) ||
		strings.Contains(line, "INFO job_manager.py")
}
