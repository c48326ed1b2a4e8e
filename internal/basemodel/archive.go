package basemodel

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// maxDirectory is the size in bytes of the largest list of contents of a ZIP file that is read. A model has a few kB.
const maxDirectory = 16 << 20

// Archive is a ZIP file with one model or, if it is a bundle, with several.
type Archive struct {
	file   *os.File
	models []Source
}

// OpenArchive opens a ZIP file and reads its list of contents. Nothing in it is trusted. The caller closes it.
func OpenArchive(name string) (*Archive, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, job.Permanent(sentence("The ZIP file cannot be read: %w.", err))
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	models, err := readArchive(f, info.Size())
	if err != nil {
		return nil, errors.Join(job.Permanent(err), f.Close())
	}
	return &Archive{file: f, models: models}, nil
}

// Models are the models in the archive, sorted by their folders.
func (a *Archive) Models() []Source { return a.models }

// Close closes the file.
func (a *Archive) Close() error { return a.file.Close() }

func readArchive(from io.ReaderAt, size int64) ([]Source, error) {
	bounded := &boundedReader{from: from, left: maxDirectory}
	r, err := zip.NewReader(bounded, size)
	switch {
	case errors.Is(err, errTooLong):
		return nil, sentence("The list of contents of the ZIP file has more than %s, which no model needs.", text.Bytes(maxDirectory))
	case err != nil:
		return nil, sentence("The file is not a ZIP file that can be read (%w).", err)
	case len(r.File) > maxEntries:
		return nil, sentence("The ZIP file has more than %s files, which no model needs.", text.Number(maxEntries))
	}
	bounded.left = -1
	folders, err := byFolder(r.File)
	if err != nil {
		return nil, err
	}
	var models []Source
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		if files := folders[folder]; isModel(files) {
			models = append(models, &zipped{files: files})
		}
	}
	if len(models) == 0 {
		return nil, sentence("The ZIP file has no folder with config.json and weights. Only models in the form of transformers can be installed.")
	}
	return models, nil
}

// isModel reports whether a folder holds a model. Some models have folders with a config.json of their own inside.
func isModel(files map[string]*zip.File) bool {
	if files[configFile] == nil {
		return false
	}
	for name := range files {
		if matches(name, weightsFile, weightsIndex, pickleFile, pickleIndex) {
			return true
		}
	}
	return false
}

// byFolder sorts the files by their folders. It refuses names that lead elsewhere, and two files of one name.
func byFolder(files []*zip.File) (map[string]map[string]*zip.File, error) {
	folders := map[string]map[string]*zip.File{}
	for _, f := range files {
		switch {
		case strings.HasSuffix(f.Name, "/"):
			continue
		case !fs.ValidPath(f.Name) || strings.Contains(f.Name, `\`):
			return nil, sentence("The ZIP file has a file with the invalid name %q.", clip(f.Name))
		case f.UncompressedSize64 > 1<<62:
			return nil, sentence("The ZIP file gives an impossible size for %q.", clip(f.Name))
		}
		folder, name := path.Split(f.Name)
		if folders[folder] == nil {
			folders[folder] = map[string]*zip.File{}
		}
		if folders[folder][name] != nil {
			return nil, sentence("The ZIP file has two files with the name %q.", clip(f.Name))
		}
		folders[folder][name] = f
	}
	return folders, nil
}

// zipped is a source: one folder of a ZIP file.
type zipped struct{ files map[string]*zip.File }

var _ Source = (*zipped)(nil)

// Look implements Source.
func (z *zipped) Look(context.Context) (Offer, error) {
	offer := Offer{Source: SourceZIP}
	for _, name := range slices.Sorted(maps.Keys(z.files)) {
		if f := z.files[name]; f.Mode().IsRegular() && name != ModelFile {
			offer.Files = append(offer.Files, File{Path: name, Size: int64(f.UncompressedSize64)}) //nolint:gosec // checked when the list was read
		}
	}
	described := z.files[ModelFile]
	if described == nil {
		return offer, nil
	}
	doc, err := readZipped(described, maxModelDoc)
	return describedOffer(offer, doc, err)
}

func readZipped(f *zip.File, limit int64) (doc []byte, err error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if doc, err = io.ReadAll(io.LimitReader(r, limit+1)); err == nil && int64(len(doc)) > limit {
		err = errTooLong
	}
	return doc, err
}

// Open implements Source. The bytes before offset are read and dropped.
func (z *zipped) Open(ctx context.Context, file File, offset int64) (io.ReadCloser, error) {
	f := z.files[file.Path]
	if f == nil {
		return nil, job.Permanent(sentence("The ZIP file has no file %q.", clip(file.Path)))
	}
	r, err := f.Open()
	if err != nil {
		return nil, job.Permanent(sentence("%s in the ZIP file cannot be read: %w.", clip(file.Path), err))
	}
	if _, err := io.CopyN(io.Discard, withContext{ctx, r}, offset); err != nil {
		return nil, errors.Join(job.Permanent(sentence("%s in the ZIP file cannot be read: %w.", clip(file.Path), err)), r.Close())
	}
	return r, nil
}

var errTooLong = errors.New("it is too long")

// boundedReader reads at most so many bytes; -1 is no limit.
type boundedReader struct {
	from io.ReaderAt
	left int64
}

// ReadAt implements io.ReaderAt.
func (b *boundedReader) ReadAt(p []byte, at int64) (int, error) {
	if b.left >= 0 {
		if b.left -= int64(len(p)); b.left < 0 {
			b.left = 0
			return 0, errTooLong
		}
	}
	return b.from.ReadAt(p, at)
}
