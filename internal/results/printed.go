package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/text"
)

// MaxText bounds every text of strangers that is shown, in characters.
const MaxText = 400

// Plain makes a text of strangers short and one line, and puts instead where nothing is left of it.
func Plain(s, instead string) string {
	if s = text.Excerpt(s, MaxText); s == "" {
		return instead
	}
	return s
}

// PrintLogs writes what a run printed to a terminal: the log of its driver, then one for each worker that has printed something,
// of each the end. Characters that would change the terminal are left out. It reports whether there was any.
func PrintLogs(w io.Writer, dir disk.Folder) (found bool, err error) {
	root, err := dir.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, DiskError(fmt.Errorf("open the run folder: %w", err))
	}
	defer func() { _ = root.Close() }()
	plain := plainText(w)
	for _, name := range append([]string{LogFile}, RankLogs(root)...) {
		if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := CopyLog(plain, root, name); err != nil {
			return found, err
		}
		found = true
	}
	return found, plain.Close()
}

// LastLines is the end of the driver's log in at most n lines, empty where there is none.
func LastLines(dir disk.Folder, n int) string {
	root, err := dir.Open()
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }()
	return LogEnd(root, n)
}

// LogEnd is LastLines of an open run folder.
func LogEnd(root *os.Root, n int) string {
	if _, err := root.Lstat(LogFile); err != nil {
		return ""
	}
	var words bytes.Buffer
	plain := plainText(&words)
	if CopyLog(plain, root, LogFile) != nil || plain.Close() != nil {
		return ""
	}
	lines := strings.Split(strings.TrimRight(words.String(), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// plainText leaves out the control characters of what is written to it, but for tabs and the ends of lines: a program of a user
// has printed it, and they could change the terminal of the reader.
func plainText(w io.Writer) io.WriteCloser {
	return transform.NewWriter(w, runes.Remove(runes.Predicate(func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t'
	})))
}
