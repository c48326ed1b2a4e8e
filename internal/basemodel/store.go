package basemodel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

const (
	// partFolder holds models on their way, and the locks. oldFolder holds models that were replaced, because a training may still have
	// their files open; the service removes them after a day.
	partFolder = ".part"
	oldFolder  = ".old"
	// maxModelDoc is the size in bytes of the largest model.json that is read.
	maxModelDoc = 4 << 20
	// maxEntries limits the entries of a folder that are read.
	maxEntries = 20_000
)

// Store is the folder of installed models. It is safe for concurrent use, also by several processes.
type Store struct {
	folder disk.Folder
}

// New returns the store in a folder, which need not exist yet.
func New(folder disk.Folder) *Store { return &Store{folder: folder} }

// Installed is one folder of the store.
type Installed struct {
	ID string
	// Model is model.json. It is nil if Fault is not.
	Model *Model
	// Fault says why model.json could not be read. It wraps fs.ErrNotExist for a model that was copied there by hand.
	Fault error
}

// List returns all models, sorted by name. A folder without config.json is none.
func (s *Store) List() ([]Installed, error) {
	root, err := s.folder.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, diskError("open the folder of models", err)
	}
	defer func() { _ = root.Close() }()
	var all []Installed
	for _, org := range folders(root, ".") {
		for _, name := range folders(root, org) {
			id := org + "/" + name
			if _, err := root.Lstat(id + "/" + configFile); err != nil || CheckID(id) != nil {
				continue
			}
			m, err := readModel(root, id)
			all = append(all, Installed{ID: id, Model: m, Fault: err})
		}
	}
	slices.SortFunc(all, func(a, b Installed) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

// folders names the folders in a folder that are not hidden.
func folders(root *os.Root, name string) []string {
	entries, err := disk.List(root, name, maxEntries)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}

// Get returns one model. The error is permanent and names what is installed if there is none of this name.
func (s *Store) Get(id string) (Installed, error) {
	if err := CheckID(id); err != nil {
		return Installed{}, err
	}
	all, err := s.List()
	if err != nil {
		return Installed{}, err
	}
	for _, one := range all {
		if one.ID == id {
			return one, nil
		}
	}
	return Installed{}, job.Permanent(sentence("The model %s is not installed. extractor models installed lists those that are.", id))
}

// readModel reads model.json of a folder below root.
func readModel(root *os.Root, folder string) (*Model, error) {
	doc, err := disk.ReadFile(root, folder+"/"+ModelFile, maxModelDoc)
	if err != nil {
		return nil, err
	}
	m, err := DecodeModel(doc)
	if err != nil {
		return nil, err
	}
	return &m, nil
}

// DecodeModel reads a model.json and checks it.
func DecodeModel(doc []byte) (Model, error) {
	var m Model
	if err := json.Unmarshal(doc, &m); err != nil {
		return Model{}, fmt.Errorf("%s is not valid: %w", ModelFile, err)
	}
	switch {
	case m.Schema != modelSchema:
		return Model{}, fmt.Errorf("%s has the schema %d, which this version does not know", ModelFile, m.Schema)
	case CheckID(m.ID) != nil:
		return Model{}, fmt.Errorf("%s has no valid name", ModelFile)
	case len(m.Files) == 0 || len(m.Files) > maxEntries:
		return Model{}, fmt.Errorf("%s names no files, or too many", ModelFile)
	}
	for _, f := range m.Files {
		if !isFileName(f.Path) || f.Size < 0 || !isSHA256(f.SHA256) {
			return Model{}, fmt.Errorf("%s names the file %q, which is not valid", ModelFile, clip(f.Path))
		}
	}
	return m, nil
}

// isFileName reports whether a path is the name of a file directly in the folder of a model.
func isFileName(name string) bool {
	return name != "" && len(name) <= 255 && name != "." && name != ".." && !strings.ContainsAny(name, "/\\\x00")
}

func isSHA256(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

// Remove removes a model and what is left of its unfinished installations. A training that has just begun to read it fails.
func (s *Store) Remove(ctx context.Context, id string) error {
	if err := CheckID(id); err != nil {
		return err
	}
	root, err := s.folder.Make()
	if err != nil {
		return diskError("open the folder of models", err)
	}
	defer func() { _ = root.Close() }()
	release, err := lock(ctx, root, id, nil)
	if err != nil {
		return err
	}
	defer release()
	_, missing := root.Lstat(id)
	if missing == nil {
		gone := partFolder + "/" + flat(id) + "@removed-" + stamp(time.Now())
		if err := root.Rename(id, gone); err != nil {
			return diskError("remove the model", err)
		}
		org, _, _ := strings.Cut(id, "/")
		if err := disk.SyncFolder(root, org); err != nil {
			return diskError("remove the model", err)
		}
		_ = root.Remove(org) // fails if other models are in it
	}
	parts, err := dropParts(root, id, "")
	if err != nil {
		return diskError("remove the model", err)
	}
	if missing != nil && parts == 0 {
		return job.Permanent(sentence("The model %s is not installed. extractor models installed lists those that are.", id))
	}
	return nil
}

// dropParts removes the unfinished installations of a model except one, and counts them.
func dropParts(root *os.Root, id, except string) (dropped int, err error) {
	entries, err := disk.List(root, partFolder, maxEntries)
	if err != nil {
		return 0, err
	}
	var faults []error
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), flat(id)+"@") && e.Name() != except {
			faults = append(faults, root.RemoveAll(partFolder+"/"+e.Name()))
			dropped++
		}
	}
	return dropped, errors.Join(faults...)
}

// stamp is a time as a part of a name. Two of them differ.
func stamp(t time.Time) string { return t.UTC().Format("20060102-150405.000000000") }
