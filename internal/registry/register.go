package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
)

// folderMode lets the pods of Ray, which may run as another user, read the models.
const folderMode = 0o775

// Judge decides whether a new version becomes the champion, and says why. It gets the present one, nil where there is none.
type Judge func(champion *Version) (wins bool, why string)

// Register makes a version of the model files in from, and the champion of its name if judge says so. It fills in the number
// and the verdict of v; the rest is the caller's. A run whose weights are registered already gives the version that is there,
// with the verdict that was given then, so Register may be repeated after a kill at any instant.
//
// Each file must be as long as v.Files says and have its sha256; one that does not is a retryable error, since a shared volume
// may show the newest bytes late. After a nil error all is on disk.
func (r *Registry) Register(ctx context.Context, v Version, from string, judge Judge) (Version, error) {
	v.Schema, v.Name = schema, Slug(v.Name)
	if !idForm.MatchString(v.dataset()) || !idForm.MatchString(v.Run) {
		return Version{}, job.Permanent(fmt.Errorf("register the model: %q or %q cannot name a folder: ask the operator", v.DatasetID, v.Run))
	}
	versions, err := r.Versions(v.dataset(), v.Name)
	if err != nil {
		return Version{}, err
	}
	same := func(o Version) bool { return o.Run == v.Run && o.WeightsSHA256 == v.WeightsSHA256 }
	if i := slices.IndexFunc(versions, same); i >= 0 {
		return versions[i], r.crown(versions[i])
	}
	made, err := r.copy(ctx, v, from)
	if err != nil {
		return Version{}, fmt.Errorf("register the model: %w", err)
	}
	crash.At(crash.Copied)
	// Of two runs that end together, the second is compared with the first if that has just become the champion.
	r.judging.Lock()
	defer r.judging.Unlock()
	champion, err := r.Champion(v.dataset(), v.Name)
	if err != nil {
		return Version{}, err
	}
	wins, why := judge(champion)
	if v.Why = why; champion != nil {
		v.Best = champion.Ref()
	}
	if v, err = r.add(v, made, wins); err != nil {
		return Version{}, fmt.Errorf("register the model: %w", err)
	}
	crash.At(crash.Registered)
	return v, r.crown(v)
}

// copy makes a hidden folder with the files beside the versions.
func (r *Registry) copy(ctx context.Context, v Version, from string) (string, error) {
	made := filepath.Join(r.dir, v.dataset(), v.Name, "."+v.Run)
	if err := errors.Join(os.RemoveAll(made), os.MkdirAll(filepath.Join(made, modelDir), folderMode)); err != nil {
		return "", err
	}
	if err := copyModel(ctx, v.Files, from, filepath.Join(made, modelDir)); err != nil {
		return "", errors.Join(err, os.RemoveAll(made))
	}
	return made, nil
}

// add makes the folder the version with the next number.
func (r *Registry) add(v Version, made string, wins bool) (Version, error) {
	dir := filepath.Dir(made)
	numbers := r.numbers(v.dataset(), v.Name)
	for v.Version = 1 + len(numbers); ; v.Version++ {
		if slices.Contains(numbers, v.Version) {
			continue
		}
		if wins {
			v.Best = v.Ref()
		}
		if err := writeJSON(filepath.Join(made, versionFile), v); err != nil {
			return v, err
		}
		// A folder that is there is never replaced, so of two runs that take the same number one gets it.
		err := os.Rename(made, filepath.Join(dir, strconv.Itoa(v.Version)))
		switch {
		case err == nil:
			return v, syncDir(dir)
		case !errors.Is(err, fs.ErrExist):
			return v, err
		}
	}
}

// copyModel copies and checks the files. They are not linked: the run folder is another program's, which may write there again.
func copyModel(ctx context.Context, files []File, from, to string) error {
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	folders := map[string]bool{to: true}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !filepath.IsLocal(f.Path) {
			return job.Permanent(fmt.Errorf("the model file %q leads out of its folder: ask the operator", f.Path))
		}
		path := filepath.Join(to, filepath.FromSlash(f.Path))
		folders[filepath.Dir(path)] = true
		if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
			return err
		}
		if err := copyFile(root, f, path); err != nil {
			return fmt.Errorf("copy %s: %w", f.Path, err)
		}
	}
	for dir := range folders {
		if err := syncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(root *os.Root, f File, path string) (err error) {
	in, err := root.Open(f.Path)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // read by the user that Ray runs as
	if err != nil {
		return err
	}
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(out, sum), in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	if size != f.Size || hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
		return job.Retryable(errors.New("it is not what the training wrote"))
	}
	return nil
}
