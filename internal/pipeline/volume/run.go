package volume

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/options"
	"github.com/ncsa/clowder-ray/internal/results"
)

const (
	// inputsFile lists the staged files. It lies beside the inputs folder, where no file of a dataset can have its name, and is
	// written last.
	inputsFile = "inputs.json"
	// maxInputs is more than a list of a hundred thousand files.
	maxInputs = 64 << 20

	// stopFile in the run folder asks the training to stop early; with keepBest in it, the training keeps its best model.
	stopFile = "stop"
	keepBest = "keep"
	maxStop  = 1 << 10
)

// ResetRun makes the folder of a run, which its training can write to, and removes what an earlier attempt left there and a new one
// would take for its own: the result, the failure and the request to stop.
func (v Volume) ResetRun(run string) error {
	root, err := v.Run(run).MakeShared()
	if err != nil {
		return fmt.Errorf("make the run folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	for _, name := range []string{stopFile, results.ResultFile, results.FailureFile} {
		if err := root.RemoveAll(name); err != nil {
			return fmt.Errorf("clear the run folder: %w", err)
		}
	}
	return nil
}

// Share makes the folder of a run writable for the group of the volume, even if an earlier version made it.
func (v Volume) Share(run string) error {
	root, err := v.Run(run).MakeShared()
	if err != nil {
		return fmt.Errorf("make the run folder writable for the group of the volume: %w", err)
	}
	return root.Close()
}

// RequestStop asks the training of run to stop early and keep its best model. It reports false if that was requested before. The
// request holds for all attempts and replaces what an operator wrote there by hand, such as a pause.
func (v Volume) RequestStop(run string) (requested bool, err error) {
	if doc, err := v.read(run, stopFile, maxStop); err == nil && strings.TrimSpace(string(doc)) == keepBest {
		return false, nil
	}
	return true, v.write(run, stopFile, []byte(keepBest+"\n"))
}

// WriteInputs writes the list of the staged files and returns its sha256 for ReadInputs. After a nil error the list is on disk, and so are the
// names of the folder of the run and of the folders directly in it.
func (v Volume) WriteInputs(run string, inputs []job.Input) (sum string, err error) {
	doc, err := encode(inputsFile, inputs)
	if err != nil {
		return "", err
	}
	runs, err := v.folder("runs").Open()
	if err != nil {
		return "", fmt.Errorf("open the folder of all runs: %w", err)
	}
	defer func() { _ = runs.Close() }()
	names, err := disk.OpenNames(runs, ".")
	if err != nil {
		return "", fmt.Errorf("open the folder of all runs: %w", err)
	}
	return digest(doc), errors.Join(v.write(run, inputsFile, doc, names), names.Close())
}

// ReadInputs reads the list of the staged files. It fails if the list is not the one that WriteInputs wrote, because the training can
// write to the run folder. A job that was staged by an older version has no sum, and its list is not checked.
func (v Volume) ReadInputs(rec job.Record) ([]job.Input, error) {
	doc, err := v.read(rec.Run, inputsFile, maxInputs)
	if err != nil {
		return nil, fmt.Errorf("read the list of staged files: %w", err)
	}
	if rec.InputsSHA256 != "" && digest(doc) != rec.InputsSHA256 {
		return nil, job.Permanent(errors.New("another program changed the list of staged files: submit again, and tell the administrator of the extractor"))
	}
	var inputs []job.Input
	if err := json.Unmarshal(doc, &inputs); err != nil {
		return nil, fmt.Errorf("decode the list of staged files: %w", err)
	}
	return inputs, nil
}

// ReadInput reads a staged settings file. The error of one that is too large wraps disk.ErrTooLarge.
func (v Volume) ReadInput(run string, in job.Input) (string, error) {
	root, err := v.Inputs(run).Open()
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	doc, err := disk.ReadFile(root, in.Path, options.MaxBytes)
	return string(doc), err
}

// ReadPartial reads what a script had saved before it failed. It returns nil for a job that is no script, and where there is nothing.
func (v Volume) ReadPartial(rec job.Record, failed *results.Failure) (*results.Result, error) {
	if !failed.User || rec.Kind != job.Script {
		return nil, nil
	}
	return results.ReadPartial(v.Run(rec.Run), rec.Run, rec.Attempt)
}

// WriteJSON writes value as JSON to a file of a run folder. A reader sees all of it or nothing, after a nil error also after a power cut.
func (v Volume) WriteJSON(run, name string, value any) error {
	doc, err := encode(name, value)
	if err != nil {
		return err
	}
	return v.write(run, name, doc)
}

// write writes a file of a run folder and syncs it, its name and the open files, together with what other jobs write at this moment.
func (v Volume) write(run, name string, doc []byte, open ...*os.File) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", name, err)
		}
	}()
	root, err := v.Run(run).Open()
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	f, err := disk.Replace(root, name, doc)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	names, err := disk.OpenNames(root, ".")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, names.Close()) }()
	return v.Barrier.Sync(append(open, f, names)...)
}

// read reads a file of a run folder of at most limit bytes.
func (v Volume) read(run, name string, limit int64) ([]byte, error) {
	root, err := v.Run(run).Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return disk.ReadFile(root, name, limit)
}

func encode(name string, value any) ([]byte, error) {
	doc, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", name, err)
	}
	return append(doc, '\n'), nil
}

func digest(doc []byte) string {
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:])
}
