package results

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
)

// verify checks every file that a result names: there, regular, of its size and sha256, and of a kind that is safe to hand
// to others.
func verify(root *os.Root, outputs []Output) error {
	for _, o := range outputs {
		if err := verifyOne(root, o); err != nil {
			return err
		}
	}
	return nil
}

func verifyOne(root *os.Root, o Output) error {
	f, err := openSized(root, o)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := checkKind(f, o); err != nil {
		return job.Permanent(fmt.Errorf("%s: %w: ask the operator to look at the training program", o.Path, err))
	}
	_, err = io.Copy(io.Discard, newChecked(f, o))
	return err
}

// verifyBytes checks the size and the sha256 of a file only.
func verifyBytes(root *os.Root, o Output) error {
	return copyOutput(io.Discard, root, o)
}

// copyOutput copies a file of the run folder and fails if it is not the promised one.
func copyOutput(w io.Writer, root *os.Root, o Output) error {
	f, err := openSized(root, o)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = io.Copy(w, newChecked(f, o))
	return err
}

func openSized(root *os.Root, o Output) (*os.File, error) {
	f, size, err := openRegular(root, o.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, job.Retryable(fmt.Errorf("the run lists %s but it is not there: %w", o.Path, fs.ErrNotExist))
	}
	if err != nil {
		return nil, err
	}
	if size != o.Size {
		_ = f.Close()
		return nil, job.Retryable(fmt.Errorf("%s has %d bytes instead of %d", o.Path, size, o.Size))
	}
	return f, nil
}

// checked reads a file and fails at its end, retryably, if the bytes were not the promised ones. Whoever copies an output
// reads through it, so that what is delivered is what was verified.
type checked struct {
	r    io.Reader
	o    Output
	hash hash.Hash
	n    int64
}

func newChecked(r io.Reader, o Output) *checked {
	return &checked{r: r, o: o, hash: sha256.New()}
}

// Read implements io.Reader.
func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.hash.Write(p[:n])
	c.n += int64(n)
	switch {
	case c.n > c.o.Size, errors.Is(err, io.EOF) && (c.n != c.o.Size || hex.EncodeToString(c.hash.Sum(nil)) != c.o.SHA256):
		return n, job.Retryable(fmt.Errorf("%s is not what was written: its sha256 or size differs", c.o.Path))
	case err != nil && !errors.Is(err, io.EOF):
		return n, job.Retryable(fmt.Errorf("read %s: %w", c.o.Path, err))
	}
	return n, err
}

// checkKind refuses what may run code on the machine of whoever opens it, whatever its name says, and weights that are not
// what their name says.
func checkKind(f io.ReaderAt, o Output) error {
	if path.Ext(o.Path) == weightsSuffix {
		return checkSafetensors(f, o.Size)
	}
	head := make([]byte, min(o.Size, sniffLen))
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read: %w", err)
	}
	if looksLikePickle(head[:n]) {
		return errors.New("the file holds a Python pickle, which may run code when it is opened")
	}
	if isBoard(o.Path) {
		return nil
	}
	switch strings.ToLower(path.Ext(o.Path)) {
	case ".json", ".jsonl", ".txt", ".csv", ".tsv", ".md", ".png", ".svg", ".model", ".jinja":
		return nil
	default: // a list of what is harmless, because one of what is not is never complete
		return errors.New("files of this kind are not handed on, since they may run code when they are opened")
	}
}

// isBoard recognises TensorBoard's files by their place and name, since they have no ending of their own.
func isBoard(p string) bool {
	return strings.HasPrefix(p, boardDir) && strings.HasPrefix(path.Base(p), "events.out.tfevents.")
}
