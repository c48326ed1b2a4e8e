package jobsapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// logsTimeout bounds the transfer of a whole log, which Ray sends as one JSON string.
const logsTimeout = 5 * time.Minute

// Logs implements rayjob.Backend. It decodes the text as a stream, so memory stays constant. It stops after MaxLog bytes with
// a line that says so.
func (c *Client) Logs(ctx context.Context, h rayjob.Handle, w io.Writer) error {
	req := jobCall(http.MethodGet, h.ID, "/logs", "send the output of a training")
	req.timeout = logsTimeout
	err := c.do(ctx, req, func(r io.Reader) error { return copyLogs(w, r, c.cfg.MaxLog) })
	if notFound(err) {
		return job.Permanent(rayjob.ErrNoLogs)
	}
	return err
}

// copyLogs writes the text in {"logs": "text"} to w.
func copyLogs(w io.Writer, r io.Reader, limit int64) error {
	in := bufio.NewReaderSize(r, 64<<10)
	found, err := openLogs(in)
	if err != nil || !found {
		return err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	err = copyString(out, in, limit)
	return errors.Join(err, out.Flush())
}

// openLogs reads up to the first character of the text; found is false if there is none.
func openLogs(in *bufio.Reader) (found bool, err error) {
	for _, want := range []string{"{", `"logs"`, ":"} {
		if err := expect(in, want); err != nil {
			return false, err
		}
	}
	switch c, err := next(in); {
	case err != nil:
		return false, err
	case c == '"':
		return true, nil
	case c == 'n': // null
		return false, nil
	default:
		return false, errNotRay
	}
}

// expect reads want after any blanks.
func expect(in *bufio.Reader, want string) error {
	c, err := next(in)
	for i := 0; err == nil; i++ {
		if c != want[i] {
			return errNotRay
		}
		if i == len(want)-1 {
			return nil
		}
		c, err = in.ReadByte()
	}
	return fmt.Errorf("%w: %w", errNotRay, err)
}

// next reads the first byte that is not a blank.
func next(in *bufio.Reader) (byte, error) {
	for {
		c, err := in.ReadByte()
		if err != nil || c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c, err
		}
	}
}

// copyString writes a JSON string without its escapes, up to its closing quote or limit bytes.
func copyString(out *bufio.Writer, in *bufio.Reader, limit int64) error {
	for written := int64(0); ; {
		if written >= limit {
			_, err := out.WriteString("\n[output truncated after " + strconv.FormatInt(written, 10) + " bytes]\n")
			return err
		}
		c, err := in.ReadByte()
		switch {
		case err != nil:
			return fmt.Errorf("the output was cut off: %w", noEOF(err))
		case c == '"':
			return nil
		case c == '\\':
			r, err := unescape(in)
			if err != nil {
				return err
			}
			n, err := out.WriteRune(r)
			if err != nil {
				return err
			}
			written += int64(n)
		default:
			if err := out.WriteByte(c); err != nil {
				return err
			}
			written++
		}
	}
}

// unescape reads what follows a backslash.
func unescape(in *bufio.Reader) (rune, error) {
	c, err := in.ReadByte()
	if err != nil {
		return 0, fmt.Errorf("the output was cut off: %w", noEOF(err))
	}
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		return unit(in)
	default:
		return 0, errNotRay
	}
}

// unit reads the digits of \uXXXX, and the second half if it is the first half of a surrogate pair.
func unit(in *bufio.Reader) (rune, error) {
	var digits [4]byte
	if _, err := io.ReadFull(in, digits[:]); err != nil {
		return 0, fmt.Errorf("the output was cut off: %w", noEOF(err))
	}
	n, err := strconv.ParseUint(string(digits[:]), 16, 16)
	if err != nil {
		return 0, errNotRay
	}
	r := rune(n)
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	// Peek, since a lone half is followed by other text that must still be read.
	ahead, _ := in.Peek(6)
	if len(ahead) == 6 && ahead[0] == '\\' && ahead[1] == 'u' {
		if low, err := strconv.ParseUint(string(ahead[2:]), 16, 16); err == nil {
			if pair := utf16.DecodeRune(r, rune(low)); pair != utf8.RuneError {
				_, _ = in.Discard(6) // they were just peeked
				return pair, nil
			}
		}
	}
	return utf8.RuneError, nil
}

// noEOF turns the end of the input inside a text into an error that is not taken for a regular end.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
