package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// folderMode allows pods to read the folders of a model.
const folderMode = 0o755

// copyModel copies and checks the files. It does not link them, because a training program may still write to the run folder.
func copyModel(ctx context.Context, files []File, from disk.Folder, to *os.Root) error {
	root, err := from.Open()
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	folders := map[string]bool{".": true}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !filepath.IsLocal(f.Path) {
			return job.Permanent(fmt.Errorf("the model file %q is outside of its folder: ask the administrator", f.Path))
		}
		for dir := filepath.Dir(f.Path); dir != "."; dir = filepath.Dir(dir) {
			folders[dir] = true
		}
		if err := to.MkdirAll(filepath.Dir(f.Path), folderMode); err != nil {
			return err
		}
		if err := copyFile(ctx, root, f, to); err != nil {
			return fmt.Errorf("copy %s: %w", f.Path, copyError(withoutPath(err)))
		}
	}
	for dir := range folders {
		if err := disk.SyncFolder(to, dir); err != nil {
			return err
		}
	}
	return nil
}

// copyError explains to the user that a file differs from its description.
func copyError(err error) error {
	if errors.Is(err, disk.ErrChanged) {
		return job.Retryable(errors.New("the file differs from what the training wrote"))
	}
	return err
}

func copyFile(ctx context.Context, from *os.Root, f File, to *os.Root) error {
	in, err := disk.OpenVerified(from, f.Path, f.Size, f.SHA256)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := to.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, until(ctx, in))
	return errors.Join(err, out.Chmod(0o644), out.Sync(), out.Close())
}

// verify returns an error unless all files of a model are in a folder as described.
func verify(ctx context.Context, files []File, in disk.Folder) error {
	root, err := in.Open()
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, f := range files {
		body, err := disk.OpenVerified(root, f.Path, f.Size, f.SHA256)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, until(ctx, body))
		if err = errors.Join(err, body.Close()); err != nil {
			return err
		}
	}
	return nil
}

// until reads from r until ctx ends.
func until(ctx context.Context, r io.Reader) io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return r.Read(p)
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
