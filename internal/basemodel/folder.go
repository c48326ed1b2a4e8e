package basemodel

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// Folder is a source: a folder of this machine with the files of one model.
type Folder struct{ root *os.Root }

var _ Source = (*Folder)(nil)

// OpenFolder opens the folder at a path. The caller closes it.
func OpenFolder(path string) (*Folder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, job.Permanent(sentence("The folder cannot be read: %w.", err))
	}
	return &Folder{root: root}, nil
}

// Close closes the folder.
func (f *Folder) Close() error { return f.root.Close() }

// Look implements Source. Folders in the folder are left out.
func (f *Folder) Look(context.Context) (Offer, error) {
	entries, err := disk.List(f.root, ".", maxEntries)
	if err != nil {
		return Offer{}, job.Permanent(sentence("The folder cannot be read: %w.", err))
	}
	offer := Offer{Source: SourceFolder}
	described := false
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil:
			return Offer{}, err
		case e.Type()&fs.ModeSymlink != 0 && (isAllowed(e.Name()) || matches(e.Name(), "*.safetensors", "*.bin")):
			return Offer{}, job.Permanent(sentence("%s is a link, which is not followed. Copy the folder with cp -L first.", clip(e.Name())))
		case !e.Type().IsRegular():
		case e.Name() == ModelFile:
			described = true
		default:
			offer.Files = append(offer.Files, File{Path: e.Name(), Size: info.Size()})
		}
	}
	if !described {
		return offer, nil
	}
	doc, err := disk.ReadFile(f.root, ModelFile, maxModelDoc)
	return describedOffer(offer, doc, err)
}

// Open implements Source.
func (f *Folder) Open(_ context.Context, file File, offset int64) (io.ReadCloser, error) {
	r, _, err := disk.Open(f.root, file.Path)
	if err != nil {
		return nil, job.Permanent(sentence("%s cannot be read: %w.", clip(file.Path), err))
	}
	if _, err := r.Seek(offset, io.SeekStart); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// describedOffer adds to an offer what a model.json beside the files says. The files get the hashes that it names.
func describedOffer(offer Offer, doc []byte, err error) (Offer, error) {
	var m Model
	if err == nil {
		m, err = DecodeModel(doc)
	}
	if err != nil {
		return Offer{}, job.Permanent(sentence("The description of the model cannot be read: %w. Remove model.json from it to install it without.", err))
	}
	sizes := map[string]int64{}
	for _, f := range offer.Files {
		sizes[f.Path] = f.Size
	}
	described := Offer{
		ID: m.ID, Source: m.Source, Endpoint: m.Endpoint, Commit: m.Commit, Revision: m.Revision, License: m.License, ConvertedFrom: m.ConvertedFrom,
		Described: true,
	}
	for _, f := range m.Files {
		if size, there := sizes[f.Path]; !there || size != f.Size {
			return Offer{}, job.Permanent(sentence("%s is missing or is not what model.json says it is. Copy the model once more.", f.Path))
		}
		described.Files = append(described.Files, File{Path: f.Path, Size: f.Size, SHA256: f.SHA256})
	}
	return described, nil
}
