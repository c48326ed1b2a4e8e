package delivery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// CopyTo puts the artifacts into a folder of this machine, under the names that an upload would give them. It needs no
// ledger: each file is written beside its place and renamed, so a reader sees the old file or the whole new one, and doing
// it again ends in the same. The folder is made where it is missing; other files in it stay.
func CopyTo(ctx context.Context, dir string, artifacts []Artifact) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // the user's own folder of results
		return fmt.Errorf("make the output folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open the output folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	for _, a := range artifacts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := copyOne(root, a); err != nil {
			return fmt.Errorf("write %s to the output folder: %w", a.Name, err)
		}
	}
	return nil
}

func copyOne(root *os.Root, a Artifact) (err error) {
	in, err := a.Open()
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	name := filepath.FromSlash(a.Name)
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	part := name + ".part"
	out, err := root.Create(part)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = root.Remove(part)
		}
	}()
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	return root.Rename(part, name)
}
