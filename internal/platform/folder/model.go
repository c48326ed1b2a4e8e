package folder

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ncsa/clowder-ray/internal/job"
)

// GivenModel is what model_file of a job on folders says to mean the model that GiveModel gave it.
const GivenModel = "given-model"

// GiveModel puts a model beside the dataset: a model.zip of an earlier run, or the folder that was in it.
func (f *Platform) GiveModel(path string) error {
	if _, err := os.Stat(path); err != nil {
		return job.Permanent(fmt.Errorf("the model cannot be read: %w", err))
	}
	if inner := filepath.Join(path, "model"); isFolder(inner) {
		path = inner
	}
	f.model = path
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// stageModel puts the given model where no file of a dataset lies, since hidden ones are left out. A folder is packed as the
// deliverables are, so that the trainer reads both alike.
func (f *Platform) stageModel(to *os.Root) (in job.Input, err error) {
	name := ".model/" + filepath.Base(f.model)
	if isFolder(f.model) {
		name += ".zip"
		in, err = packModel(f.model, to, name)
	} else {
		in, err = stageFile(f.model, to, name)
	}
	in.ID, in.Name = GivenModel, filepath.Base(f.model)
	return in, err
}

// packModel packs the files of a folder and says what came out.
func packModel(from string, to *os.Root, name string) (in job.Input, err error) {
	dst, err := create(to, name)
	if err != nil {
		return in, err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	sum := sha256.New()
	archive := zip.NewWriter(io.MultiWriter(dst, sum))
	entries, err := os.ReadDir(from)
	if err != nil {
		return in, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		if err := pack(archive, filepath.Join(from, e.Name()), "model/"+e.Name()); err != nil {
			return in, err
		}
	}
	if err := archive.Close(); err != nil {
		return in, err
	}
	info, err := dst.Stat()
	if err != nil {
		return in, err
	}
	return job.Input{Path: name, Size: info.Size(), SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// pack adds one file without compressing it: weights do not get smaller.
func pack(archive *zip.Writer, path, name string) error {
	src, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	w, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	if err != nil {
		return err
	}
	_, err = io.Copy(w, src)
	return err
}
