package folder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder/ability"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/platform/ignore"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
)

// Platform is the platform without a Clowder: the dataset is one folder and the results go into another.
type Platform struct {
	dataset, out string
	model        string // what GiveModel gave, empty for none
}

var _ platform.Platform = (*Platform)(nil)

// New returns the platform of the dataset folder and the result folder. The dataset must be a folder that can be read, or a link to one.
func New(dataset, out string) (*Platform, error) {
	info, err := os.Stat(dataset)
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("the dataset folder cannot be read: %w", err))
	}
	if !info.IsDir() {
		return nil, job.Permanent(fmt.Errorf("%s is a file: name the folder that holds the dataset", dataset))
	}
	place, err := filepath.EvalSymlinks(dataset)
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("the dataset folder cannot be read: %w", err))
	}
	return &Platform{dataset: place, out: out}, nil
}

// Stage copies the files of the dataset, and the model that was given.
func (f *Platform) Stage(ctx context.Context, _ job.Record, dir disk.Folder, say platform.Say) ([]job.Input, []job.NotRead, error) {
	to, err := dir.Make()
	if err != nil {
		return nil, nil, fmt.Errorf("copy the dataset: %w", err)
	}
	defer func() { _ = to.Close() }()
	inputs, left, ignored, err := f.each(ctx, func(path, name string) (job.Input, error) { return stageFile(path, to, name) })
	if err == nil && f.model != "" && len(inputs) > 0 {
		var in job.Input
		in, err = f.stageModel(to)
		inputs = append(inputs, in)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("copy the dataset: %w", err)
	}
	ignore.Tell(ignored, say.Note)
	return inputs, left, nil
}

// StageMany refuses: a folder of this machine belongs to no Clowder that has other datasets.
func (f *Platform) StageMany(context.Context, job.Record, []job.Input, platform.Room, platform.Say) ([]job.Input, []job.NotRead, error) {
	return nil, nil, job.Permanent(errors.New("data.datasets names datasets of a Clowder, and this run has a local folder: copy their files into the folder, or submit the dataset in Clowder"))
}

// Label does nothing: the files of a folder have no metadata.
func (f *Platform) Label(context.Context, job.Record, []job.Input, func(string)) error { return nil }

// Inputs lists the files of the dataset with their digests, as Stage would, without copying them.
func (f *Platform) Inputs(ctx context.Context) ([]job.Input, error) {
	inputs, _, _, err := f.each(ctx, func(path, name string) (job.Input, error) { return copyHashed(path, name, io.Discard) })
	if err != nil {
		return nil, fmt.Errorf("read the dataset: %w", err)
	}
	return inputs, nil
}

// each calls take for every file below the dataset folder but for hidden ones and those that the dataset leaves out. Links to files of the
// dataset are followed. Links that lead out of it are not, and are returned. left is how many files the dataset leaves out.
func (f *Platform) each(ctx context.Context, take func(path, name string) (job.Input, error)) (inputs []job.Input, outside []job.NotRead, left int, err error) {
	ignored, err := f.ignored()
	if err != nil {
		return nil, nil, 0, err
	}
	err = filepath.WalkDir(f.dataset, func(path string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if path != f.dataset && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(f.dataset, path)
		if err != nil {
			return err
		}
		if d.Type()&fs.ModeSymlink != 0 && !ignored.Out(filepath.ToSlash(name)) {
			if out, err := f.leadsOut(path); out || err != nil {
				outside = append(outside, job.NotRead{Name: filepath.ToSlash(name), Reason: "a link that leads out of the dataset, which is not followed"})
				return err
			}
		}
		if !info.Mode().IsRegular() {
			return nil
		}
		if ignored.Out(filepath.ToSlash(name)) {
			left++
			return nil
		}
		in, err := take(path, filepath.ToSlash(name))
		if err != nil {
			return err
		}
		inputs = append(inputs, in)
		return nil
	})
	if err == nil && left > 0 && len(inputs) == 0 {
		err = ignore.ErrAll
	}
	return inputs, outside, left, err
}

// leadsOut reports whether a link leads to a place outside of the dataset folder.
func (f *Platform) leadsOut(link string) (bool, error) {
	place, err := filepath.EvalSymlinks(link)
	if err != nil {
		return false, err
	}
	inside, err := filepath.Rel(f.dataset, place)
	if err != nil {
		return false, err
	}
	return !filepath.IsLocal(inside), nil
}

// ignored reads which files the dataset leaves out.
func (f *Platform) ignored() (*ignore.Files, error) {
	file, err := os.Open(filepath.Join(f.dataset, ignore.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	doc, err := io.ReadAll(io.LimitReader(file, ignore.MaxBytes+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return ignore.Parse(doc)
}

// stageFile copies one file under its own name into the folder to.
func stageFile(from string, to *os.Root, name string) (in job.Input, err error) {
	dst, err := create(to, name)
	if err != nil {
		return in, err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	return copyHashed(from, name, dst)
}

// create makes a file below to, in place of what an earlier attempt has left there. Folders are made where they are missing.
func create(to *os.Root, name string) (*os.File, error) {
	if err := to.MkdirAll(path.Dir(name), 0o755); err != nil {
		return nil, err
	}
	if err := to.RemoveAll(name); err != nil {
		return nil, err
	}
	return to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

// copyHashed writes a file to w and says what it is.
func copyHashed(from, name string, w io.Writer) (in job.Input, err error) {
	src, err := os.Open(from)
	if err != nil {
		return in, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), src)
	return job.Input{Name: name, Path: name, Size: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}

// News knows no new files: nothing announces them.
func (f *Platform) News(context.Context, job.Record, disk.Folder) ([]job.Announced, string, error) {
	return nil, "Nothing announces new files of a folder", nil
}

// Address is empty: there is no Clowder.
func (f *Platform) Address(job.Record) (string, error) { return "", nil }

// Abilities are those that Known gives: it answers without a Clowder.
func (f *Platform) Abilities(job.Request) ability.Set { return ability.Set{ConfirmsStatuses: true} }

// Sender is the person at this machine.
func (f *Platform) Sender(context.Context, job.Record) (job.Sender, error) { return job.Person, nil }

// Origin is empty: no Clowder sends requests.
func (f *Platform) Origin(job.Request) (configured, named string) { return "", "" }

// User is the one who runs the command.
func (f *Platform) User(context.Context, job.Record) (string, error) { return "you", nil }

// MayRead allows every model of this machine: a user of the command can read the registry anyway.
func (f *Platform) MayRead(context.Context, job.Record, string) (bool, error) { return true, nil }

// Note adds nothing: a folder has no metadata, and the registry says which version is the champion.
func (f *Platform) Note(context.Context, job.Record, map[string]any, platform.LedgerFile) error {
	return nil
}

// CanManage allows everything to the user of the command.
func (f *Platform) CanManage(context.Context, job.Record, job.Record) (string, error) {
	return "you", nil
}

// Plan returns no notes, because Deliver needs none.
func (f *Platform) Plan(job.Record, platform.Delivery) (json.RawMessage, error) { return nil, nil }

// Deliver copies the deliverables into the result folder; copying again changes nothing.
func (f *Platform) Deliver(ctx context.Context, _ job.Record, d platform.Delivery, _ platform.LedgerFile, _ func(string)) (string, error) {
	if err := delivery.CopyTo(ctx, f.out, d.Artifacts); err != nil {
		return "", err
	}
	return "Results in " + f.out, nil
}

// Known reports that nothing is shown anywhere, because only this process sends statuses.
func (f *Platform) Known(context.Context, job.Record) (platform.Known, error) {
	return platform.Known{Complete: true}, nil
}
