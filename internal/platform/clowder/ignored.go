package clowder

import (
	"context"
	"errors"
	"fmt"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/platform/ignore"
)

// ignoredOf reads which files a dataset leaves out. dir takes the file that says it.
func ignoredOf(ctx context.Context, s versions.Session, files []clowder.File, dir disk.Folder) (*ignore.Files, error) {
	var from *clowder.File
	for i, f := range files {
		if f.Path == ignore.Name { // of several with this name, the newest is the last
			from = &files[i]
		}
	}
	if from == nil {
		return nil, nil
	}
	doc, err := readFile(ctx, s, *from, dir, ignore.MaxBytes)
	if err != nil {
		return nil, err
	}
	return ignore.Parse(doc)
}

// isIgnored reports whether a file is left out, or says which files are.
func isIgnored(out *ignore.Files, f clowder.File) bool {
	return f.Path == ignore.Name || out.Out(f.Path)
}

// readFile downloads a small file of a dataset into dir and returns its content. Of a file that is larger than most bytes
// it returns one byte more than that, which the readers refuse.
func readFile(ctx context.Context, s versions.Session, f clowder.File, dir disk.Folder, most int64) ([]byte, error) {
	if f.Size > most {
		return make([]byte, most+1), nil
	}
	staged, err := s.Stage(ctx, []clowder.File{f}, dir, nil)
	if err != nil {
		return nil, err
	}
	root, err := dir.Open()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Path, err)
	}
	doc, err := disk.ReadFile(root, staged[0].Path, most)
	if err = errors.Join(err, root.Close()); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Path, err)
	}
	return doc, nil
}
