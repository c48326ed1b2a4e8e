package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
)

// maxVersionFile is the size in bytes of the largest version.json that is written or read.
const maxVersionFile = 4 << 20

// Judge decides whether a new version becomes the champion, and returns the reason. It gets the current champion, or nil. An unreadable
// champion has only its name, and its number if that can be read: see Version.Known.
type Judge func(champion *Version) (wins bool, why string)

// Register makes a version from the model files in from, and makes it the champion of its name if judge says so. It sets the number and
// the verdict of v; the caller sets the other fields. If the run and its weights are registered already, it returns that version with
// its verdict, so Register may be repeated after a kill. If that version is unreadable, the error wraps ErrUnreadable: a run is not
// registered twice.
//
// Each file must have the size and the sha256 in v.Files. If one differs, the error is retryable, since a shared volume may show new
// bytes late. Links in from are not followed. After a nil error all files are on disk.
func (r *Registry) Register(ctx context.Context, v Version, from disk.Folder, judge Judge) (Version, error) {
	of := v.of()
	v.Schema, v.Name, v.folder = schema, Slug(v.Name), of.Folder()
	if !of.valid() || !idForm.MatchString(v.Run) {
		return Version{}, job.Permanent(fmt.Errorf("register the model: %q or %q cannot be the name of a folder: ask the administrator", v.DatasetID, v.Run))
	}
	there, found, err := r.registered(ctx, of, v)
	if err != nil {
		return Version{}, err
	}
	if found {
		if err := r.sync(there.folder, there.Name); err != nil { // a kill may have prevented this
			return Version{}, fmt.Errorf("register the model: %w", withoutPath(err))
		}
		return there, r.crownWinner(of, there)
	}
	if err := r.copy(ctx, v, from); err != nil {
		return Version{}, fmt.Errorf("register the model: %w", withoutPath(err))
	}
	crash.At(crash.Copied)
	// If two runs end at the same time and the first one becomes the champion, the second is compared with it.
	r.championLock.Lock()
	defer r.championLock.Unlock()
	champion, err := r.championToBeat(of, v.Name)
	if err != nil {
		return Version{}, err
	}
	wins, why := judge(champion)
	if v.Why = why; champion != nil && champion.Version > 0 {
		v.Best = champion.Ref()
	}
	if v, err = r.add(of, v, wins); err != nil {
		return Version{}, fmt.Errorf("register the model: %w", withoutPath(err))
	}
	crash.At(crash.Registered)
	return v, r.crownWinner(of, v)
}

// championToBeat is the champion that a new version is compared with.
func (r *Registry) championToBeat(of Dataset, name string) (*Version, error) {
	champion, err := r.Champion(of, name)
	if errors.Is(err, ErrUnreadable) {
		number, _ := r.championNumber(of, name) // unknown is 0
		return &Version{Name: name, Version: number}, nil
	}
	return champion, err
}

// registered finds the version of the same run from an earlier call.
func (r *Registry) registered(ctx context.Context, of Dataset, v Version) (Version, bool, error) {
	slots, err := r.slots(of, v.Name)
	if err != nil {
		return Version{}, false, err
	}
	for _, s := range slices.Backward(slots) {
		if err := ctx.Err(); err != nil {
			return Version{}, false, err
		}
		o, err := r.read(of, s, &readBudget{})
		switch {
		case err != nil && r.madeBy(ctx, s, v):
			return Version{}, false, unreadable(fmt.Sprintf("version %d of the model %s, which this run made,", s.number, v.Name), "", err)
		case err == nil && o.Run == v.Run && o.WeightsSHA256 == v.WeightsSHA256:
			return o, true, nil
		}
	}
	return Version{}, false, nil
}

// madeBy reports whether an unreadable version belongs to the run of v. The run file beside version.json shows it. If that is lost too,
// or the version is older than the run file, the model files show it.
func (r *Registry) madeBy(ctx context.Context, s slot, v Version) bool {
	if doc, err := r.readFile(r.at(s), runFile, maxRunFile); err == nil && strings.HasPrefix(string(doc), "run ") {
		return string(doc) == v.runLine()
	}
	return len(v.Files) > 0 && verify(ctx, v.Files, r.at(s).In(modelDir)) == nil
}

// maxRunFile is the size in bytes of the largest run file that is read.
const maxRunFile = 256

// runLine is the content of the run file, which identifies the run of a version if version.json is damaged.
func (v Version) runLine() string { return "run " + v.Run + " " + v.WeightsSHA256 + "\n" }

// hidden is the name of the folder in which the version of a run is prepared.
func hidden(v Version) string { return "." + v.Run }

// copy copies the files into the hidden folder.
func (r *Registry) copy(ctx context.Context, v Version, from disk.Folder) error {
	return r.change(v.folder, v.Name, func(root *os.Root) error {
		if err := root.RemoveAll(hidden(v)); err != nil {
			return err
		}
		to, err := r.named(v.folder, v.Name).In(hidden(v)).In(modelDir).Make()
		if err != nil {
			return err
		}
		if err = errors.Join(copyModel(ctx, v.Files, from, to), to.Close()); err != nil {
			return errors.Join(err, root.RemoveAll(hidden(v)))
		}
		return nil
	})
}

// add renames the hidden folder to the next number.
func (r *Registry) add(of Dataset, v Version, wins bool) (Version, error) {
	slots, err := r.slots(of, v.Name)
	if err != nil {
		return v, err
	}
	taken := make(map[int]bool, len(slots))
	for _, s := range slots {
		taken[s.number] = true
	}
	for v.Version = 1 + len(slots); ; v.Version++ {
		if taken[v.Version] {
			continue
		}
		if wins {
			v.Best = v.Ref()
		}
		if err := r.describe(v); err != nil {
			return v, err
		}
		// A folder that is there is never replaced, so of two runs that take the same number one gets it.
		err := r.change(v.folder, v.Name, func(root *os.Root) error { return root.Rename(hidden(v), strconv.Itoa(v.Version)) })
		switch {
		case err == nil:
			return v, r.sync(v.folder, v.Name)
		case !errors.Is(err, fs.ErrExist):
			return v, err
		}
	}
}

// describe writes version.json and the run file into the hidden folder.
func (r *Registry) describe(v Version) error {
	doc, err := encode(v, maxVersionFile)
	if err != nil {
		return err
	}
	root, err := r.named(v.folder, v.Name).In(hidden(v)).Open()
	if err != nil {
		return err
	}
	return errors.Join(disk.WriteFile(root, runFile, []byte(v.runLine())), disk.WriteFile(root, versionFile, doc), root.Close())
}

// sync makes the names of a version's folders durable, also if the process that made them was killed before.
func (r *Registry) sync(folder, name string) error {
	dir := r.named(folder, name)
	for {
		root, err := dir.Open()
		if err != nil {
			return err
		}
		if err := errors.Join(disk.SyncFolder(root, "."), root.Close()); err != nil {
			return err
		}
		if dir.Name == "" {
			return nil
		}
		dir.Name = strings.TrimPrefix(path.Dir(dir.Name), ".")
	}
}

// encode writes v as JSON of at most limit bytes.
func encode(v any, limit int) ([]byte, error) {
	doc, err := json.MarshalIndent(v, "", "  ")
	if err == nil && len(doc) >= limit {
		err = job.Permanent(fmt.Errorf("the description of the model has %d bytes, the limit is %d: use fewer or shorter labels", len(doc), limit))
	}
	return append(doc, '\n'), err
}

// withoutPath returns err without its path, because users read it.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", e.Op, e.Err)
	}
	return err
}
