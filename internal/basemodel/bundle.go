package basemodel

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// Bundle writes installed models into one ZIP file, from which [OpenArchive] reads them again. Every file is checked on the way. The same
// models give the same bytes.
func (s *Store) Bundle(ctx context.Context, w io.Writer, ids []string) error {
	archive := zip.NewWriter(w)
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	for _, id := range ids {
		if err := s.pack(ctx, archive, id); err != nil {
			return err
		}
	}
	return archive.Close()
}

func (s *Store) pack(ctx context.Context, archive *zip.Writer, id string) error {
	m, err := s.described(id)
	if err != nil {
		return err
	}
	root, err := s.folder.In(id).Open()
	if err != nil {
		return diskError("open the model", err)
	}
	defer func() { _ = root.Close() }()
	doc, err := disk.ReadFile(root, ModelFile, maxModelDoc)
	if err != nil {
		return diskError("read "+ModelFile, err)
	}
	out, err := packed(archive, id+"/"+ModelFile)
	if err == nil {
		_, err = out.Write(doc)
	}
	if err != nil {
		return err
	}
	for _, f := range m.Files {
		r, err := disk.OpenVerified(root, f.Path, f.Size, f.SHA256)
		if err == nil {
			if out, err = packed(archive, id+"/"+f.Path); err == nil {
				_, err = io.Copy(out, withContext{ctx, r})
			}
			err = errors.Join(err, r.Close())
		}
		switch {
		case errors.Is(err, disk.ErrChanged):
			return job.Permanent(sentence("%s of %s is not the file that was installed. Install the model again.", f.Path, id))
		case err != nil:
			return fmt.Errorf("pack %s of %s: %w", f.Path, id, err)
		}
	}
	return nil
}

// packed begins a file in an archive. It is not compressed, because weights do not get smaller.
func packed(archive *zip.Writer, name string) (io.Writer, error) {
	return archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
}
