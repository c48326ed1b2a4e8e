package rayjob

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxReason is the longest text of an Observation, in characters.
const MaxReason = 300

// scanned is how many lines from the end of a log are looked at for the one that says what went wrong.
const scanned = 200

var (
	// colour is a terminal escape sequence.
	colour = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]")
	// origin is what Ray puts before a line that another process printed: "(RayTrainWorker pid=12, ip=10.0.0.3) ".
	origin = regexp.MustCompile(`^(\([^()]{0,80}\bpid=\d+[^()]{0,80}\) ?)+`)
	// errorLine is the last line of a traceback: "ValueError: text" or "torch.OutOfMemoryError: text".
	errorLine = regexp.MustCompile(`^([A-Za-z_][\w.]*\.)?([A-Z]\w*(Error|Exception|Exit|Interrupt|Failure|Warning)): +\S`)
	// noises are the beginnings of lines that explain nothing.
	noises = []string{
		"Traceback (most recent", "File \"", "During handling of", "The above exception", "ray::", "Running entrypoint for job",
		"^", "~", "---", "===", "***",
	}
	// stamped is a line of a log library, which rarely names the fault.
	stamped = regexp.MustCompile(`^(\[?\d{4}-\d{2}-\d{2}[ T,]|\d{2}:\d{2}:\d{2}|\[?(DEBUG|INFO|WARNING)\b)`)
)

// OneLine makes a text of another program fit for a status: one printable line of at most limit characters. Colours,
// control characters and broken UTF-8 are dropped, every run of blanks becomes one, and a cut shows as an ellipsis.
func OneLine(text string, limit int) string {
	var b strings.Builder
	blank, count := false, 0
	for _, r := range colour.ReplaceAllString(text, "") {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			blank = count > 0
			continue
		}
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			continue
		}
		width := 1
		if blank {
			width = 2
		}
		if count+width > limit {
			return shorten(b.String(), limit)
		}
		if blank {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		blank, count = false, count+width
	}
	return b.String()
}

// shorten makes room for an ellipsis at the end of text.
func shorten(text string, limit int) string {
	for utf8.RuneCountInString(text) > max(0, limit-1) {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	if limit < 1 {
		return ""
	}
	return strings.TrimRight(text, " ") + "…"
}

// LastError finds the line near the end of a program's output that says best what went wrong: the end of the last
// traceback, without the traceback, or else the last line that is not of a log library. It returns "" where nothing is
// worth showing.
func LastError(log string) string {
	var last, logged string
	for range scanned {
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

// noise reports a line of a traceback that is not its last, or one that Ray itself puts into every log.
func noise(line string) bool {
	return slices.ContainsFunc(noises, func(start string) bool { return strings.HasPrefix(line, start) }) ||
		strings.Contains(line, "INFO job_manager.py")
}
