package live

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/results"
)

const (
	// maxPrinted is how much of the end of a log a viewer begins with, and at most gets in one message, in bytes.
	maxPrinted = 16 << 10
	// maxPrintedLine bounds one line.
	maxPrintedLine = 2 << 10
)

// printed follows what a run prints. It is not safe for concurrent use.
type printed struct {
	offset int64
	// end is the end of the log in plain text, for those who begin to look.
	end string
}

// next returns what was printed since the last call, in whole lines; ok is false for nothing. A log that grew faster than it is read leaves
// lines out.
func (p *printed) next(dir disk.Folder) (news Printed, ok bool, err error) {
	root, err := dir.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return Printed{}, false, nil
	}
	if err != nil {
		return Printed{}, false, err
	}
	defer func() { _ = root.Close() }()
	f, info, err := disk.Open(root, results.LogFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Printed{}, false, nil
	}
	if err != nil {
		return Printed{}, false, err
	}
	defer func() { _ = f.Close() }()
	return p.read(f, info)
}

func (p *printed) read(f io.ReaderAt, info os.FileInfo) (news Printed, ok bool, err error) {
	if info.Size() < p.offset {
		p.offset, p.end = 0, ""
	}
	news.From = p.offset == 0
	if skip := info.Size() - maxPrinted; skip > p.offset {
		p.offset, news.From = skip, true
	}
	chunk := make([]byte, info.Size()-p.offset)
	n, err := f.ReadAt(chunk, p.offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return Printed{}, false, err
	}
	chunk = chunk[:n]
	whole := bytes.LastIndexByte(chunk, '\n') + 1
	if whole == 0 && len(chunk) < maxPrinted {
		return Printed{}, false, nil // the first line is still being written
	}
	first := news.From && p.offset > 0 // the first line was cut
	if whole == 0 {                    // such as a progress bar, of which the last state is shown below the lines before it
		whole, first, news.From = len(chunk), false, news.From && p.end == ""
	}
	chunk = chunk[:whole]
	p.offset += int64(whole)
	if first {
		_, chunk, _ = bytes.Cut(chunk, []byte{'\n'})
	}
	news.Text = plain(chunk)
	if news.From {
		p.end = ""
	}
	p.end = lastPart(p.end + news.Text)
	return news, true, nil
}

// lastPart is the end of a text, from the beginning of a line.
func lastPart(s string) string {
	if len(s) <= maxPrinted {
		return s
	}
	_, s, _ = strings.Cut(s[len(s)-maxPrinted:], "\n")
	return s
}

// plain makes lines of a stranger plain text. Of a line that was written over again and again, as progress bars do, the last state stays.
func plain(chunk []byte) string {
	var b strings.Builder
	for line := range bytes.Lines(chunk) {
		line = bytes.TrimRight(line, "\r\n")
		line = line[bytes.LastIndexByte(line, '\r')+1:]
		if len(line) > maxPrintedLine {
			line = append(line[:maxPrintedLine:maxPrintedLine], "…"...)
		}
		for len(line) > 0 {
			r, size := utf8.DecodeRune(line)
			line = line[size:]
			if r == '\t' || !unicode.IsControl(r) {
				b.WriteRune(r)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
