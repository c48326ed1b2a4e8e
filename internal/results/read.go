package results

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ncsa/clowder-ray/internal/job"
)

// The files that end a run, and what they may hold at most.
const (
	ResultFile  = "result.json"
	FailureFile = "error.json"

	maxResult  = 64 << 20
	maxFailure = 1 << 20
)

// schemaVersion is the version of result.json that this program reads.
const schemaVersion = 2

// Read returns what the trainer left in runDir for attempt of run: a verified result, a failure, or an error, and always
// exactly one of them. Every file that the result names is there, of the size and the sha256 that it names.
//
// A result of an earlier attempt of the same run counts: it was made from the same inputs. A failure of an earlier attempt
// does not. Where neither file is there yet, or a file does not match, the error is retryable, since a shared volume may
// show the newest bytes late; what cannot get better by waiting is permanent.
func Read(runDir, run string, attempt int) (*Result, *Failure, error) {
	root, err := os.OpenRoot(runDir)
	if err != nil {
		return nil, nil, job.Retryable(fmt.Errorf("open the run folder: %w", err))
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

func readResult(root *os.Root, run string, attempt int) (*Result, error) {
	doc, err := readBounded(root, ResultFile, maxResult)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, job.Retryable(fmt.Errorf("the training left no result: %w", err))
	}
	if err != nil {
		return nil, err
	}
	result, err := DecodeResult(doc)
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("%s: %w: ask the operator whether the trainer and the service fit together", ResultFile, err))
	}
	if result.Run != run || result.Attempt > attempt {
		return nil, job.Permanent(fmt.Errorf("%s belongs to attempt %d of %q and not to attempt %d of %s: ask the operator who else writes to this volume",
			ResultFile, result.Attempt, shorten(oneLine(result.Run), 60), attempt, run))
	}
	if err := verify(root, result.Outputs); err != nil {
		return nil, err
	}
	return result, nil
}

func readFailure(root *os.Root, run string, attempt int) (*Failure, error) {
	doc, err := readBounded(root, FailureFile, maxFailure)
	if err != nil {
		return nil, err
	}
	f, err := DecodeFailure(doc)
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("%s: %w: ask the operator whether the trainer and the service fit together", FailureFile, err))
	}
	if f.Run != run || f.Attempt != attempt {
		return nil, job.Retryable(fmt.Errorf("%s of another attempt: %w", FailureFile, fs.ErrNotExist))
	}
	return f, nil
}

// readBounded reads a regular file of at most limit bytes. The error is classified, and wraps fs.ErrNotExist where the file
// is not there.
func readBounded(root *os.Root, name string, limit int64) ([]byte, error) {
	f, size, err := openRegular(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if size > limit {
		return nil, job.Permanent(fmt.Errorf("%s has %d bytes, more than the %d that are read: ask the operator", name, size, limit))
	}
	doc, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, job.Retryable(fmt.Errorf("read %s: %w", name, err))
	}
	if int64(len(doc)) > limit {
		return nil, job.Permanent(fmt.Errorf("%s has more than %d bytes: ask the operator", name, limit))
	}
	return doc, nil
}

// openRegular opens a file below root. It refuses what is no regular file before it opens it, because opening a named pipe
// would wait for ever.
func openRegular(root *os.Root, name string) (*os.File, int64, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, 0, job.Retryable(fmt.Errorf("look at %s: %w", name, err))
	}
	if !info.Mode().IsRegular() {
		return nil, 0, job.Permanent(fmt.Errorf("%s is not a regular file: ask the operator who else writes to this volume", name))
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, 0, job.Retryable(fmt.Errorf("open %s: %w", name, err))
	}
	return f, info.Size(), nil
}
