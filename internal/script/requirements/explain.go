package requirements

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

var (
	unknownPackage = regexp.MustCompile(`Because (?:there are no versions of )?([A-Za-z0-9._-]+)(?:\[[^\]]*\])?(?: was not found in the package registry)? and you require`)
	noWheel        = regexp.MustCompile(`Because (?:only )?([A-Za-z0-9._-]+)==([^\s,]+) has no (?:usable wheels|wheels with a matching)`)
	noVersion      = regexp.MustCompile(`Because there (?:is|are) no versions? of ([A-Za-z0-9._-]+)([=<>!~][^\s,]*)`)
	badMarker      = regexp.MustCompile(`(?s)Couldn't parse requirement.*?cause: ([^\n]+)`)
	wantsImage     = regexp.MustCompile(`depends? on ([A-Za-z0-9._-]+)([=<>!~][^\s,]*) and ([A-Za-z0-9._-]+)==([^\s,]+),`)
	// address matches what may contain the password of the index, with the quotes of uv.
	address = regexp.MustCompile("`?[a-z]+://[^\\s`]+`?")
)

// explain turns a failure of uv into a sentence. It is permanent if the requirements file is the reason, and may go away otherwise.
func explain(err error, output string, lines []Line, image map[string]string) error {
	if _, ended := errors.AsType[*exec.ExitError](err); !ended || errors.Is(err, context.Canceled) {
		return fmt.Errorf("start uv: %w", err)
	}
	output = address.ReplaceAllString(strings.Join(strings.Fields(output), " "), "the package index")
	if found := badMarker.FindStringSubmatch(output); found != nil {
		return job.Permanent(fmt.Errorf("a line of the requirements file cannot be read: %s", text.Excerpt(found[1], 120)))
	}
	if strings.Contains(output, "No solution found") {
		return job.Permanent(errors.New(conflict(output, lines, image)))
	}
	if strings.Contains(output, "No module named uv") {
		return errors.New("SCRIPT_PYTHON: this Python has no uv: install the package uv for it")
	}
	return fmt.Errorf("the package index does not answer as expected: %s", text.Excerpt(strings.ReplaceAll(strings.TrimPrefix(output, "error: "), " cause: ", ": "), 300))
}

// conflict says in one sentence why the packages cannot be installed together.
func conflict(output string, lines []Line, image map[string]string) string {
	if found := wantsImage.FindStringSubmatch(output); found != nil && found[1] == found[3] && image[found[3]] == found[4] {
		return fmt.Sprintf("the requirements file needs %s%s, and scripts run with %s %s here: choose versions of the packages that work with it, "+
			"or ask the administrator for another image", found[1], found[2], found[3], found[4])
	}
	if found := noWheel.FindStringSubmatch(output); found != nil {
		return fmt.Sprintf("%s %s%s exists only as source code or for other versions of Python, and nothing is compiled here: choose another "+
			"version, or ask the administrator to add it to the image", found[1], found[2], at(found[1], lines))
	}
	if found := noVersion.FindStringSubmatch(output); found != nil && !strings.HasPrefix(found[2], "[") {
		return fmt.Sprintf("the package index has no version %s%s%s: choose another version", found[1], found[2], at(found[1], lines))
	}
	if found := unknownPackage.FindStringSubmatch(output); found != nil {
		return fmt.Sprintf("the package index has no package %s%s: correct its name, or remove it", found[1], at(found[1], lines))
	}
	_, why, _ := strings.Cut(output, "cause: ")
	why, _, _ = strings.Cut(why, " hint:")
	why = strings.ReplaceAll(why, "we can conclude that ", "")
	return "the packages of the requirements file exclude each other: " + text.Excerpt(why, 400)
}

// at says on which line of the file a package is named; empty for one that another package needs.
func at(name string, lines []Line) string {
	for _, line := range lines {
		if line.Name == Normal(name) {
			return fmt.Sprintf(" (line %d of the requirements file)", line.Number)
		}
	}
	return ""
}
