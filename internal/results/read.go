package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// The files that end a run, and what they may hold at most.
const (
	ResultFile  = "result.json"
	FailureFile = "error.json"
	// PartialFile has the form of a result. It stands beside error.json and says what a script left that failed.
	PartialFile = "partial.json"

	maxResult  = 32 << 20
	MaxFailure = 1 << 20
)

// schemaVersion is the version of result.json that this program reads.
const schemaVersion = 3

// Read returns what the trainer left in the run folder dir for attempt of run: a verified result, a failure, or an error, and always
// exactly one of them. Every file that the result names is there, of the size and the sha256 that it names.
//
// A result of an earlier attempt of the same run counts: it was made from the same inputs. A failure of an earlier attempt
// does not. Where neither file is there yet, or a file does not match, the error is retryable, since a shared volume may
// show the newest bytes late; what cannot get better by waiting is permanent.
func Read(dir disk.Folder, run string, attempt int) (*Result, *Failure, error) {
	root, err := OpenRun(dir)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = root.Close() }()

	result, rerr := readResult(root, run, attempt)
	if rerr == nil {
		return result, nil, nil
	}
	failure, ferr := readFailure(root, run, attempt)
	switch {
	case ferr == nil:
		return nil, failure, nil
	case !errors.Is(rerr, fs.ErrNotExist) || errors.Is(ferr, fs.ErrNotExist):
		return nil, nil, rerr
	default:
		return nil, nil, ferr
	}
}

// ReadPartial returns what a script left that failed in attempt of run, verified as by Read. It returns nil where it left nothing.
func ReadPartial(dir disk.Folder, run string, attempt int) (*Result, error) {
	root, err := OpenRun(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	partial, err := readNamed(root, PartialFile, run, attempt)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && partial.Attempt != attempt:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return partial, verify(root, partial)
}

// ReadFinished returns the result in the folder of a run that is done and delivered. Its files may be gone, so they are not verified.
func ReadFinished(dir disk.Folder) (*Result, error) { return readUnverified(dir, ResultFile) }

// ReadLeft is ReadFinished for what a script left that failed.
func ReadLeft(dir disk.Folder) (*Result, error) { return readUnverified(dir, PartialFile) }

func readUnverified(dir disk.Folder, name string) (*Result, error) {
	root, err := OpenRun(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	doc, err := ReadBounded(root, name, maxResult)
	if err != nil {
		return nil, err
	}
	return DecodeResult(doc)
}

func readResult(root *os.Root, run string, attempt int) (*Result, error) {
	result, err := readNamed(root, ResultFile, run, attempt)
	if err != nil {
		return nil, err
	}
	if err := verify(root, result); err != nil {
		return nil, err
	}
	return result, nil
}

// readNamed decodes a file of the form of a result. It does not look at the files that it names.
func readNamed(root *os.Root, name, run string, attempt int) (*Result, error) {
	doc, err := ReadBounded(root, name, maxResult)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, job.Retryable(fmt.Errorf("the training wrote no result: %w", err))
	}
	if err != nil {
		return nil, err
	}
	result, err := DecodeResult(doc)
	if err == nil && result.Partial != (name == PartialFile) {
		err = errors.New("a partial result stands in the place of a whole one, or the other way round")
	}
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("%s: %w: ask the administrator whether the trainer and the service have the same version", name, err))
	}
	if result.Run != run || result.Attempt > attempt {
		return nil, job.Permanent(fmt.Errorf("%s belongs to attempt %d of %q, not to attempt %d of %s: ask the administrator which other program writes to this volume",
			name, result.Attempt, text.Excerpt(result.Run, 60), attempt, run))
	}
	return result, nil
}

func readFailure(root *os.Root, run string, attempt int) (*Failure, error) {
	doc, err := ReadBounded(root, FailureFile, MaxFailure)
	if err != nil {
		return nil, err
	}
	f, err := DecodeFailure(doc)
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("%s: %w: ask the administrator whether the trainer and the service have the same version", FailureFile, err))
	}
	if f.Run != run || f.Attempt != attempt {
		return nil, job.Retryable(fmt.Errorf("%s of another attempt: %w", FailureFile, fs.ErrNotExist))
	}
	return f, nil
}

// OpenRun opens a run folder. The error is classified.
func OpenRun(dir disk.Folder) (*os.Root, error) {
	root, err := dir.Open()
	if err != nil {
		return nil, DiskError(fmt.Errorf("open the run folder: %w", err))
	}
	return root, nil
}

// ReadBounded reads a regular file of at most limit bytes. The error is classified, and wraps fs.ErrNotExist where the file
// is not there.
func ReadBounded(root *os.Root, name string, limit int64) ([]byte, error) {
	doc, err := disk.ReadFile(root, name, limit)
	if err != nil {
		return nil, DiskError(fmt.Errorf("read %s: %w", name, err))
	}
	return doc, nil
}

// openRegular opens a regular file below root and returns its size. The error is classified.
func openRegular(root *os.Root, name string) (*os.File, int64, error) {
	f, info, err := disk.Open(root, name)
	if err != nil {
		return nil, 0, DiskError(fmt.Errorf("open %s: %w", name, err))
	}
	return f, info.Size(), nil
}

// DiskError classifies an error of the disk. What another program has put in the place of a file stays there until a person looks
// at it; all else may go away by itself, since a shared volume may show the newest bytes late.
func DiskError(err error) error {
	switch {
	case errors.Is(err, disk.ErrNotAllowed):
		return job.Permanent(fmt.Errorf("%w: ask the administrator which other program writes to this volume", err))
	case errors.Is(err, disk.ErrTooLarge):
		return job.Permanent(fmt.Errorf("%w: ask the administrator to check the training program", err))
	default:
		return job.Retryable(err)
	}
}
