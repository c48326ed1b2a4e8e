package basemodel

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// folderMode lets the pods of Ray, which run as another user, read a folder.
const folderMode = 0o755

// Install carries out a plan and returns the installed model. If it fails, the model that had the name before stays, and what was loaded
// stays for the next attempt. watch is called often and from several goroutines; it may be nil.
func (s *Store) Install(ctx context.Context, p *Plan, watch func(Progress)) (Model, error) {
	if watch == nil {
		watch = func(Progress) {}
	}
	root, err := s.folder.Make()
	if err != nil {
		return Model{}, diskError("open the folder of models", err)
	}
	defer func() { _ = root.Close() }()
	release, err := lock(ctx, root, p.ID, func() { watch(Progress{Step: StepWait}) })
	if err != nil {
		return Model{}, err
	}
	defer release()
	if err := s.survey(p); err != nil { // another process may have installed it, or filled the volume
		return Model{}, err
	}
	m := p.Installed
	if !p.Done {
		if m, err = s.build(ctx, root, p, watch); err != nil {
			return Model{}, err
		}
	}
	if p.options.Default {
		if err := s.makeDefault(root, m); err != nil {
			return Model{}, err
		}
	}
	return *m, nil
}

// build makes the folder of the model and moves it to its place.
func (s *Store) build(ctx context.Context, root *os.Root, p *Plan, watch func(Progress)) (*Model, error) {
	part := p.part()
	_, name, _ := strings.Cut(part, "/")
	if _, err := dropParts(root, p.ID, name); err != nil {
		return nil, diskError("remove an earlier attempt", err)
	}
	if err := root.MkdirAll(part, folderMode); err != nil {
		return nil, diskError("make the folder of the installation", err)
	}
	folder, err := root.OpenRoot(part)
	if err != nil {
		return nil, diskError("open the folder of the installation", err)
	}
	defer func() { _ = folder.Close() }()
	m, err := p.fill(ctx, folder, watch)
	if err != nil {
		return nil, err
	}
	if p.Installed != nil {
		m.Default = p.Installed.Default && p.Installed.Kind == m.Kind
	}
	if err := writeModel(folder, ".", m); err != nil {
		return nil, err
	}
	if err := errors.Join(folder.Chmod(".", folderMode), disk.SyncFolder(folder, ".")); err != nil {
		return nil, diskError("store the model", err)
	}
	return m, diskError("move the model to its place", place(root, part, p.ID, time.Now()))
}

// fill loads and completes the files of a model and describes them.
func (p *Plan) fill(ctx context.Context, folder *os.Root, watch func(Progress)) (*Model, error) {
	l := &loader{plan: p, folder: folder, watch: watch}
	if err := l.load(ctx); err != nil {
		return nil, err
	}
	m := &Model{
		Schema: modelSchema, ID: p.ID, Source: p.Offer.Source, Endpoint: p.Offer.Endpoint, Commit: p.Offer.Commit, Revision: p.Offer.Revision,
		Digest: p.digest(), License: p.License, ConvertedFrom: p.Offer.ConvertedFrom, Installed: time.Now().UTC().Truncate(time.Second),
	}
	watch(Progress{Step: StepCheck})
	facts, err := Complete(ctx, folder, p.options.Hints)
	if err != nil {
		return nil, diskError("complete the model", err)
	}
	m.Facts = facts
	m.Files, err = describe(ctx, folder)
	return m, diskError("read the model", err)
}

// describe lists the files of a folder with their hashes, makes them readable for others, and makes them durable.
func describe(ctx context.Context, folder *os.Root) ([]ModelFileEntry, error) {
	entries, err := disk.List(folder, ".", maxEntries)
	if err != nil {
		return nil, err
	}
	var files []ModelFileEntry
	for _, e := range entries {
		if e.Name() == ModelFile {
			continue
		}
		file, err := describeFile(ctx, folder, e.Name())
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	slices.SortFunc(files, func(a, b ModelFileEntry) int { return cmp.Compare(a.Path, b.Path) })
	return files, nil
}

func describeFile(ctx context.Context, folder *os.Root, name string) (ModelFileEntry, error) {
	f, _, err := disk.Open(folder, name)
	if err != nil {
		return ModelFileEntry{}, err
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	size, err := io.Copy(sum, withContext{ctx, f})
	if err = errors.Join(err, f.Chmod(0o644), f.Sync()); err != nil {
		return ModelFileEntry{}, err
	}
	return ModelFileEntry{Path: name, Size: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// withContext is a reader that ends with its context.
type withContext struct {
	ctx context.Context //nolint:containedctx // it wraps a reader for one call
	io.Reader
}

// Read implements io.Reader.
func (r withContext) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// writeModel writes model.json into a folder below root.
func writeModel(root *os.Root, folder string, m *Model) error {
	doc, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", ModelFile, err)
	}
	return diskError("write "+ModelFile, disk.WriteFile(root, folder+"/"+ModelFile, append(doc, '\n')))
}

// place moves a finished folder to the place of its model. If a model is there, a reader sees the old or the new one; only on a file system
// that cannot exchange two folders is there a moment with none. The old folder stays for a day in oldFolder, because a training may have
// its files open.
func place(root *os.Root, part, id string, now time.Time) error {
	org, _, _ := strings.Cut(id, "/")
	if err := root.MkdirAll(org, folderMode); err != nil {
		return err
	}
	info, err := root.Lstat(id)
	switch {
	case errors.Is(err, os.ErrNotExist):
		err = root.Rename(part, id)
	case err != nil:
	case !info.IsDir():
		err = job.Permanent(sentence("%s in the folder of models is a link or a file. Remove it first.", id))
	default:
		err = replace(root, part, id, now)
	}
	if err != nil {
		return err
	}
	return errors.Join(disk.SyncFolder(root, org), disk.SyncFolder(root, partFolder), disk.SyncFolder(root, "."))
}

func replace(root *os.Root, part, id string, now time.Time) error {
	if err := root.MkdirAll(oldFolder, folderMode); err != nil {
		return err
	}
	old := oldFolder + "/" + flat(id) + "@" + stamp(now)
	if disk.Exchange(root, part, id) == nil {
		if err := root.Rename(part, old); err != nil {
			return err
		}
	} else if err := renameBoth(root, part, id, old); err != nil {
		return err
	}
	return root.Chtimes(old, now, now) // its age is counted from now on
}

// renameBoth moves the model away and the finished folder to its place. If that fails, the model is back.
func renameBoth(root *os.Root, part, id, old string) error {
	if err := root.Rename(id, old); err != nil {
		return err
	}
	if err := root.Rename(part, id); err != nil {
		return errors.Join(err, root.Rename(old, id))
	}
	return nil
}

// makeDefault marks a model and takes the mark from all others of its kind.
func (s *Store) makeDefault(root *os.Root, m *Model) error {
	all, err := s.List()
	if err != nil {
		return err
	}
	for _, other := range all {
		if other.Model == nil || other.ID == m.ID || other.Model.Kind != m.Kind || !other.Model.Default {
			continue
		}
		other.Model.Default = false
		if err := writeModel(root, other.ID, other.Model); err != nil {
			return err
		}
	}
	if m.Default {
		return nil
	}
	m.Default = true
	return writeModel(root, m.ID, m)
}
