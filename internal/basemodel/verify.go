package basemodel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// Verify reads all files of a model and compares them with model.json. It returns a sentence for each difference.
func (s *Store) Verify(ctx context.Context, id string) (faults []string, err error) {
	m, err := s.described(id)
	if err != nil {
		return nil, err
	}
	root, err := s.folder.In(id).Open()
	if err != nil {
		return nil, diskError("open the model", err)
	}
	defer func() { _ = root.Close() }()
	known := map[string]bool{ModelFile: true}
	for _, f := range m.Files {
		known[f.Path] = true
		r, err := disk.OpenVerified(root, f.Path, f.Size, f.SHA256)
		if err == nil {
			_, err = io.Copy(io.Discard, withContext{ctx, r})
			_ = r.Close()
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, fs.ErrNotExist):
			faults = append(faults, f.Path+" is missing.")
		case errors.Is(err, disk.ErrChanged), errors.Is(err, disk.ErrNotAllowed):
			faults = append(faults, f.Path+" is not the file that was installed.")
		default:
			faults = append(faults, fmt.Sprintf("%s cannot be read: %s.", f.Path, err))
		}
	}
	entries, err := disk.List(root, ".", maxEntries)
	if err != nil {
		return nil, diskError("list the files of the model", err)
	}
	for _, e := range entries {
		if !known[e.Name()] {
			faults = append(faults, clip(e.Name())+" was added later.")
		}
	}
	return faults, nil
}

// described returns model.json of an installed model, or a permanent error about a model without one.
func (s *Store) described(id string) (*Model, error) {
	one, err := s.Get(id)
	switch {
	case err != nil:
		return nil, err
	case errors.Is(one.Fault, fs.ErrNotExist):
		return nil, job.Permanent(sentence("The model %s has no %s: it was copied by hand. Install it from a copy of its folder: extractor models install FOLDER --name %s.", id, ModelFile, id))
	case one.Fault != nil:
		return nil, job.Permanent(sentence("The description of %s cannot be read: %w. Install the model again.", id, one.Fault))
	default:
		return one.Model, nil
	}
}
