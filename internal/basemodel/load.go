package basemodel

import (
	"context"
	"crypto/sha1" //nolint:gosec // the name that git gives to a content
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

const (
	// streams is the number of files that are loaded at the same time.
	streams = 4
	// copyBuffer is the size in bytes of the buffer of a file that is loaded.
	copyBuffer = 256 << 10
)

// errDiffers is wrapped by the error about a file that is not the one that the source promises.
var errDiffers = errors.New("the file differs")

// loader loads the files of a plan into a folder.
type loader struct {
	plan   *Plan
	folder *os.Root
	done   atomic.Int64
	watch  func(Progress)
}

// Progress is how far an installation is, in bytes. Step says what is being done.
type Progress struct {
	Step        Step
	Done, Total int64
}

// Step is a part of an installation.
type Step string

// The steps, in their order.
const (
	StepWait  Step = "wait"
	StepLoad  Step = "load"
	StepCheck Step = "check"
)

// load brings all files into the folder, complete and checked. What lies there and does not belong to the plan is removed first.
func (l *loader) load(ctx context.Context) error {
	if err := l.clear(); err != nil {
		return diskError("clear the folder of the installation", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(streams)
	for _, f := range l.plan.Files {
		group.Go(func() error { return l.file(ctx, f) })
	}
	return group.Wait()
}

// clear removes what lies in the folder and the plan does not load.
func (l *loader) clear() error {
	entries, err := disk.List(l.folder, ".", maxEntries)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, f := range l.plan.Files {
		wanted[f.Path] = true
	}
	var faults []error
	for _, e := range entries {
		if !wanted[e.Name()] || !e.Type().IsRegular() {
			faults = append(faults, l.folder.RemoveAll(e.Name()))
		}
	}
	return errors.Join(faults...)
}

// differs says that a file was not what the source says, twice.
func (l *loader) differs(f File, why error) error {
	says := "the Hub says"
	switch offer := l.plan.Offer; {
	case offer.Described:
		says = ModelFile + " says"
	case offer.Source != SourceHub:
		return sentence("%s was changed while it was copied (%w), twice. Nothing was installed. Try again when nobody writes there.", f.Path, why)
	}
	return sentence("%s is not what %s it is (%w), twice. Nothing was installed. Try again, or try another mirror.", f.Path, says, why)
}

// file loads one file. If it is not what the source says, it is loaded once again from its first byte, and then removed.
func (l *loader) file(ctx context.Context, f File) error {
	if !isFileName(f.Path) || f.Size < 0 {
		return job.Permanent(sentence("The model has a file with the invalid name %q.", clip(f.Path)))
	}
	err := l.attempt(ctx, f, f.hasHash())
	if errors.Is(err, errDiffers) {
		err = l.attempt(ctx, f, false)
	}
	if errors.Is(err, errDiffers) {
		err = job.Permanent(l.differs(f, err))
		return errors.Join(err, l.folder.Remove(f.Path))
	}
	return err
}

func (f File) hasHash() bool { return f.SHA256 != "" || f.GitSHA1 != "" }

// attempt loads what is missing of a file, or all of it, and checks its hash.
func (l *loader) attempt(ctx context.Context, f File, resume bool) (err error) {
	flags := os.O_RDWR | os.O_CREATE
	if !resume {
		flags |= os.O_TRUNC
	}
	out, err := l.folder.OpenFile(f.Path, flags, 0o644)
	if err != nil {
		return diskError("make "+f.Path, err)
	}
	defer func() {
		if closed := out.Close(); err == nil {
			err = diskError("store "+f.Path, closed)
		}
	}()
	sums := newSums(f)
	have, err := io.Copy(sums, io.LimitReader(out, f.Size+1))
	if err != nil {
		return diskError("read "+f.Path, err)
	}
	began := l.done.Add(min(have, f.Size))
	l.watch(Progress{Step: StepLoad, Done: began, Total: l.plan.Bytes})
	if have < f.Size {
		got, err := l.fetch(ctx, f, have, io.MultiWriter(out, sums))
		if have += got; err != nil {
			return err
		}
	}
	if err := sums.check(f, have); err != nil {
		l.done.Add(-min(have, f.Size))
		return err
	}
	return diskError("store "+f.Path, errors.Join(out.Chmod(fs.FileMode(0o644)), out.Sync()))
}

// fetch copies the bytes from offset on. It reads at most one byte more than the file should have.
func (l *loader) fetch(ctx context.Context, f File, offset int64, to io.Writer) (got int64, err error) {
	from, err := l.plan.source.Open(ctx, f, offset)
	if err != nil {
		return 0, err
	}
	defer func() { _ = from.Close() }()
	bounded, buffer := io.LimitReader(from, f.Size-offset+1), make([]byte, copyBuffer)
	for {
		n, readErr := bounded.Read(buffer)
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return got, diskError("store "+f.Path, err)
			}
			got += int64(n)
			l.watch(Progress{Step: StepLoad, Done: l.done.Add(int64(n)), Total: l.plan.Bytes})
		}
		if errors.Is(readErr, io.EOF) {
			return got, nil
		}
		if readErr != nil {
			return got, readErr
		}
		if ctx.Err() != nil {
			return got, ctx.Err()
		}
	}
}

// sums computes the hashes of a file.
type sums struct {
	io.Writer
	sha256, git hash.Hash
}

func newSums(f File) *sums {
	s := &sums{sha256: sha256.New(), git: sha1.New()} //nolint:gosec // the name that git gives to a content
	_, _ = fmt.Fprintf(s.git, "blob %d\x00", f.Size)
	s.Writer = s.sha256
	if f.SHA256 == "" && f.GitSHA1 != "" {
		s.Writer = s.git
	}
	return s
}

// check compares a file of so many bytes with what the source says. A source that says nothing but the size is believed.
func (s *sums) check(f File, size int64) error {
	switch {
	case size != f.Size:
		return fmt.Errorf("its size differs%w", hidden{errDiffers})
	case f.SHA256 != "" && hex.EncodeToString(s.sha256.Sum(nil)) != f.SHA256:
		return fmt.Errorf("sha256 differs%w", hidden{errDiffers})
	case f.SHA256 == "" && f.GitSHA1 != "" && hex.EncodeToString(s.git.Sum(nil)) != f.GitSHA1:
		return fmt.Errorf("sha1 differs%w", hidden{errDiffers})
	}
	return nil
}

// hidden is an error that is found by errors.Is and adds nothing to the text.
type hidden struct{ error }

// Error implements error.
func (hidden) Error() string { return "" }

// Unwrap returns the error that is found.
func (h hidden) Unwrap() error { return h.error }
