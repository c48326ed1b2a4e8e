package requirements

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// MaxFile bounds the size of a requirements file in bytes, and maxLines its lines that name a package.
	MaxFile  = 64 << 10
	maxLines = 500
)

// Line is one line that names a package.
type Line struct {
	// Number counts the lines of the file from 1.
	Number int
	// Name is the normalized name of the package.
	Name string
	// Version holds the version specifiers, such as >=1,<2; empty for any version.
	Version string
	// Text is the line for uv, written again from its parts.
	Text string
}

var (
	lineForm = regexp.MustCompile(`^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[([^\]]*)\])?\s*([^;]*?)\s*(?:;\s*(.+))?$`)
	extra    = regexp.MustCompile(`^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	// specifier is one condition about the version.
	specifier = regexp.MustCompile(`^(===|==|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9][A-Za-z0-9._*+!-]*$`)
	// marker has what the grammar of markers needs; uv reports a marker that makes no sense.
	marker    = regexp.MustCompile(`^[A-Za-z0-9_ .'"()<>=!~,+*-]+$`)
	dashes    = regexp.MustCompile(`[-_.]+`)
	reference = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*\s*(?:\[[^\]]*\])?\s*@`)
)

// Normal is the normalized name of a package, as an index uses it.
func Normal(name string) string { return strings.ToLower(dashes.ReplaceAllString(name, "-")) }

// Parse reads a requirements file. Comments and blank lines are left out. The error is permanent and names the first lines that are not allowed.
func Parse(doc []byte) ([]Line, error) {
	lines, faults := parse(doc)
	if len(faults) > 0 {
		return nil, job.Permanent(fmt.Errorf("the requirements file cannot be used: %s", strings.Join(faults, "; ")))
	}
	return lines, nil
}

// mostFaults bounds the wrong lines that one error names.
const mostFaults = 5

// parse returns the lines that name packages and a sentence for each other line.
func parse(doc []byte) (lines []Line, faults []string) {
	doc = bytes.TrimPrefix(doc, []byte("\xef\xbb\xbf"))
	if len(doc) > MaxFile {
		return nil, []string{"it is larger than " + text.Bytes(MaxFile)}
	}
	if !utf8.Valid(doc) {
		return nil, []string{"it is not UTF-8 text: save it as UTF-8"}
	}
	for i, raw := range strings.Split(string(doc), "\n") {
		raw = withoutComment(raw)
		if raw == "" {
			continue
		}
		line, err := parseLine(raw)
		line.Number = i + 1
		switch {
		case len(faults) >= mostFaults:
			return lines, faults
		case err != nil:
			faults = append(faults, fmt.Sprintf("line %d: %s", i+1, err))
		case len(lines) >= maxLines:
			return lines, append(faults, fmt.Sprintf("it names more than %d packages", maxLines))
		default:
			lines = append(lines, line)
		}
	}
	return lines, faults
}

// withoutComment returns a line without its comment and blanks.
func withoutComment(line string) string {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "#") {
		return ""
	}
	for _, blank := range []string{" #", "\t#"} {
		if at := strings.Index(line, blank); at >= 0 {
			line = line[:at]
		}
	}
	return strings.TrimSpace(line)
}

// parseLine reads the line of one package.
func parseLine(raw string) (Line, error) {
	if err := foreign(raw); err != nil {
		return Line{}, err
	}
	parts := lineForm.FindStringSubmatch(raw)
	if parts == nil {
		return Line{}, fmt.Errorf("%q names no package: write a name and a version, such as tiktoken==0.12.0", text.Excerpt(raw, 60))
	}
	name, extras, versions, condition := parts[1], parts[2], strings.Trim(parts[3], "() \t"), strings.TrimSpace(parts[4])
	line := Line{Name: Normal(name), Text: name}
	if extras != "" {
		var kept []string
		for one := range strings.SplitSeq(extras, ",") {
			if one = strings.TrimSpace(one); !extra.MatchString(one) {
				return Line{}, fmt.Errorf("%q is not the name of an extra", text.Excerpt(one, 40))
			}
			kept = append(kept, one)
		}
		line.Text += "[" + strings.Join(kept, ",") + "]"
	}
	if versions != "" {
		var kept []string
		for one := range strings.SplitSeq(versions, ",") {
			if one = strings.TrimSpace(one); !specifier.MatchString(one) {
				return Line{}, fmt.Errorf("%q is not a version: write it like %s==1.2 or %s>=1,<2", text.Excerpt(one, 40), line.Name, line.Name)
			}
			kept = append(kept, strings.ReplaceAll(one, " ", ""))
		}
		line.Version = strings.Join(kept, ",")
		line.Text += line.Version
	}
	if condition != "" {
		if !marker.MatchString(condition) {
			return Line{}, fmt.Errorf("%q is not a condition such as python_version < '3.12'", text.Excerpt(condition, 60))
		}
		line.Text += " ; " + condition
	}
	return line, nil
}

// foreign refuses lines that would make uv read a file, start a program, or contact another machine than the index.
func foreign(raw string) error {
	lower := strings.ToLower(raw)
	switch {
	case strings.HasPrefix(raw, "-"):
		return errors.New("options such as -r, -e, --index-url and --hash are not allowed: write only names and versions of packages")
	case strings.HasSuffix(raw, `\`):
		return errors.New("lines that continue on the next line are not allowed: write each package on one line")
	case strings.Contains(raw, " --"):
		return errors.New("options after a package, such as --hash, are not allowed: remove them")
	case strings.Contains(lower, "://"), strings.HasPrefix(lower, "git+"), reference.MatchString(raw), strings.HasPrefix(lower, "file:"):
		return errors.New("addresses are not allowed: packages come from the package index of the administrator by their name")
	case strings.HasPrefix(raw, "."), strings.ContainsAny(raw, "/"), strings.HasSuffix(lower, ".whl"), strings.HasSuffix(lower, ".tar.gz"), strings.HasSuffix(lower, ".zip"):
		return errors.New("files and folders are not allowed: packages come from the package index of the administrator by their name")
	}
	return nil
}
