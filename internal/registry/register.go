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

// maxVersionFile is the largest version.json that is written and read.
const maxVersionFile = 4 << 20

// Judge decides whether a new version becomes the champion, and says why. It gets the present one, nil where there is none.
// Of one that cannot be read no more is Known than its name, and its number where that can be read.
type Judge func(champion *Version) (wins bool, why string)

// Register makes a version of the model files in from, and the champion of its name if judge says so. It fills in the number
// and the verdict of v; the rest is the caller's. A run whose weights are registered already gives the version that is there,
// with the verdict that was given then, so Register may be repeated after a kill at any instant. Where that version cannot be
// read the error wraps ErrUnreadable: a run is not registered twice.
//
// Each file must be as long as v.Files says and have its sha256; one that does not is a retryable error, since a shared volume
// may show the newest bytes late. No link in from is followed. After a nil error all is on disk.
func (r *Registry) Register(ctx context.Context, v Version, from disk.Folder, judge Judge) (Version, error) {
	of := v.of()
	v.Schema, v.Name, v.folder = schema, Slug(v.Name), of.Folder()
	if !of.valid() || !idForm.MatchString(v.Run) {
		return Version{}, job.Permanent(fmt.Errorf("register the model: %q or %q cannot name a folder: ask the operator", v.DatasetID, v.Run))
	}
	there, found, err := r.registered(ctx, of, v)
	if err != nil {
		return Version{}, err
	}
	if found {
		if err := r.sync(there.folder, there.Name); err != nil { // the kill may have come before this
			return Version{}, fmt.Errorf("register the model: %w", pathless(err))
		}
		return there, r.crown(of, there)
	}
	if err := r.copy(ctx, v, from); err != nil {
		return Version{}, fmt.Errorf("register the model: %w", pathless(err))
	}
	crash.At(crash.Copied)
	// Of two runs that end together, the second is compared with the first if that has just become the champion.
	r.judging.Lock()
	defer r.judging.Unlock()
	champion, err := r.rival(of, v.Name)
	if err != nil {
		return Version{}, err
	}
	wins, why := judge(champion)
	if v.Why = why; champion != nil && champion.Version > 0 {
		v.Best = champion.Ref()
	}
	if v, err = r.add(of, v, wins); err != nil {
		return Version{}, fmt.Errorf("register the model: %w", pathless(err))
	}
	crash.At(crash.Registered)
	return v, r.crown(of, v)
}

// rival is the champion to compare with.
func (r *Registry) rival(of Dataset, name string) (*Version, error) {
	champion, err := r.Champion(of, name)
	if errors.Is(err, ErrUnreadable) {
		number, _ := r.title(of, name) // unknown is 0
		return &Version{Name: name, Version: number}, nil
	}
	return champion, err
}

// registered finds the version that an earlier call made of the same run.
func (r *Registry) registered(ctx context.Context, of Dataset, v Version) (Version, bool, error) {
	slots, err := r.slots(of, v.Name)
	if err != nil {
		return Version{}, false, err
	}
	for _, s := range slices.Backward(slots) {
		if err := ctx.Err(); err != nil {
			return Version{}, false, err
		}
		o, err := r.read(of, s, &look{})
		switch {
		case err != nil && r.holds(ctx, s, v):
			return Version{}, false, unreadable(fmt.Sprintf("version %d of the model %s, which this run has made,", s.number, v.Name), "", err)
		case err == nil && o.Run == v.Run && o.WeightsSHA256 == v.WeightsSHA256:
			return o, true, nil
		}
	}
	return Version{}, false, nil
}

// holds reports whether a version that cannot be read is that of the run of v. A file beside version.json says so; where that is
// lost as well, or from before there was one, the model itself does.
func (r *Registry) holds(ctx context.Context, s slot, v Version) bool {
	if doc, err := r.readFile(r.at(s), runFile, maxStamp); err == nil && strings.HasPrefix(string(doc), "run ") {
		return string(doc) == v.stamp()
	}
	return len(v.Files) > 0 && verify(ctx, v.Files, r.at(s).In(modelDir)) == nil
}

// maxStamp is the most that is read of a stamp.
const maxStamp = 256

// stamp is the file of a version that tells whose it is where version.json cannot be read any more.
func (v Version) stamp() string { return "run " + v.Run + " " + v.WeightsSHA256 + "\n" }

// hidden is where the version of a run is made, beside the versions.
func hidden(v Version) string { return "." + v.Run }

// copy makes the hidden folder with the files.
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

// add makes the hidden folder the version with the next number.
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

// describe writes what is known of the version into its hidden folder.
func (r *Registry) describe(v Version) error {
	doc, err := encode(v, maxVersionFile)
	if err != nil {
		return err
	}
	root, err := r.named(v.folder, v.Name).In(hidden(v)).Open()
	if err != nil {
		return err
	}
	return errors.Join(disk.WriteFile(root, runFile, []byte(v.stamp())), disk.WriteFile(root, versionFile, doc), root.Close())
}

// sync makes the names of a version's folders durable, also where the process that made them was killed before it could.
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
		err = job.Permanent(fmt.Errorf("what is known of the model takes %d bytes, at most %d are kept: use fewer or shorter labels", len(doc), limit))
	}
	return append(doc, '\n'), err
}

// pathless is err without the path at which it happened: users read it.
func pathless(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", e.Op, e.Err)
	}
	return err
}
