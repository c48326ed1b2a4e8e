// Package ignore reads the file of a dataset that says which of its files take no part in jobs.
package ignore

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/moby/patternmatcher"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Name is the name of the file. It counts at the top of a dataset only.
const Name = ".clowderignore"

// MaxBytes is the size of the largest file that is read.
const MaxBytes = 64 << 10

// Tell says how many files were left out, if any were.
func Tell(left int, say func(string)) {
	if left > 0 {
		say(fmt.Sprintf("Left out %s, as %s asks", text.Count(left, "file"), Name))
	}
}

// maxPatterns and maxLength bound the work for each file of a dataset. The length is in bytes.
const (
	maxPatterns = 100
	maxLength   = 200
)

// Files says which files of one dataset are left out. The nil value leaves out none. It is not safe for concurrent use.
type Files struct {
	patterns *patternmatcher.PatternMatcher
	// folders has the answers about folders, so that each folder is compared once.
	folders map[string]answer
}

// answer says whether a file or folder is left out, and by which patterns.
type answer struct {
	out bool
	by  patternmatcher.MatchInfo
}

// Parse reads the file. As in .gitignore, each line has a pattern: * and ? match all but a slash, ** matches any folders, a pattern
// without a slash counts in every folder, one that matches a folder leaves out all that is in it, ! takes files back in, and # begins a
// comment. The error is permanent and says what is wrong for the user.
func Parse(doc []byte) (*Files, error) {
	if len(doc) > MaxBytes {
		return nil, wrong(fmt.Errorf("it is larger than %s: shorten it", text.Bytes(MaxBytes)))
	}
	var patterns []string
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(doc), "\ufeff")) {
		number++
		pattern := strings.TrimSpace(line)
		if pattern == "" || strings.HasPrefix(pattern, "#") {
			continue
		}
		if len(pattern) > maxLength {
			return nil, wrong(fmt.Errorf("line %d is longer than %d bytes: shorten it", number, maxLength))
		}
		if _, err := patternmatcher.New([]string{inAnyFolder(pattern)}); err != nil {
			return nil, wrong(fmt.Errorf("line %d is no pattern (%s): write one such as *.tif or raw/", number, text.Excerpt(pattern, 60)))
		}
		if patterns = append(patterns, inAnyFolder(pattern)); len(patterns) > maxPatterns {
			return nil, wrong(fmt.Errorf("it has more than %d patterns: shorten it", maxPatterns))
		}
	}
	all, err := patternmatcher.New(patterns)
	if err != nil {
		return nil, wrong(err)
	}
	return &Files{patterns: all, folders: map[string]answer{}}, nil
}

// inAnyFolder returns a pattern as the library takes it: from the top of the dataset.
func inAnyFolder(pattern string) string {
	sign := ""
	if rest, ok := strings.CutPrefix(pattern, "!"); ok {
		sign, pattern = "!", strings.TrimSpace(rest)
	}
	pattern = strings.TrimSuffix(pattern, "/")
	if pattern != "" && !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern
	}
	return sign + strings.TrimPrefix(pattern, "/")
}

func wrong(err error) error { return job.Permanent(fmt.Errorf("%s: %w", Name, err)) }

// Out reports whether a file, named with its folders, is left out.
func (f *Files) Out(file string) bool {
	return f != nil && f.ask(strings.TrimPrefix(path.Clean("/"+file), "/")).out
}

func (f *Files) ask(name string) answer {
	if known, ok := f.folders[name]; ok {
		return known
	}
	var above answer
	if folder := path.Dir(name); folder != "." {
		above = f.ask(folder)
		f.folders[folder] = above
	}
	out, by, err := f.patterns.MatchesUsingParentResults(name, above.by)
	return answer{out: err == nil && out, by: by} // Parse has compiled each pattern, so there is no error
}

// ErrAll says that nothing of a dataset is left.
var ErrAll = job.Permanent(errors.New(Name + " leaves out all files of the dataset: correct its patterns"))
