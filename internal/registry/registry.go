package registry

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"sync"

	"github.com/ncsa/clowder-ray/internal/disk"
)

// Registry is the folder of all models. Its zero value is not usable.
type Registry struct {
	dir disk.Folder
	// judging is held while a version is compared with the champion and takes its title.
	judging sync.Mutex
	faults  faults
}

// New returns the registry in dir, which need not be there yet.
func New(dir disk.Folder) *Registry { return &Registry{dir: dir} }

const (
	modelDir     = "model"
	versionFile  = "version.json"
	runFile      = "run"
	championFile = "champion.json"
)

const (
	// maxEntries is how many entries of one folder are looked at.
	maxEntries = 100_000
	// maxVersions and maxBytes bound what one look reads of the versions of a dataset.
	maxVersions = 10_000
	maxBytes    = 64 << 20
	// maxNumber is the largest number that people can name.
	maxNumber = 999_999_999
)

// slot is the place of a version: its number below a name in the folder of a dataset.
type slot struct {
	folder, name string
	number       int
}

func (r *Registry) named(folder, name string) disk.Folder { return r.dir.In(folder).In(name) }

func (r *Registry) at(s slot) disk.Folder {
	return r.named(s.folder, s.name).In(strconv.Itoa(s.number))
}

// Model is the folder of the version's model files.
func (r *Registry) Model(v Version) disk.Folder {
	return r.at(slot{cmp.Or(v.folder, v.of().Folder()), v.Name, v.Version}).In(modelDir)
}

// Versions returns the versions of a name that can be read, oldest first. A name that nobody registered has none. The error
// wraps ErrUnreadable where the folder of the name cannot be listed.
func (r *Registry) Versions(of Dataset, name string) ([]Version, error) {
	return r.versions(of, name, &look{versions: maxVersions, bytes: maxBytes})
}

// versions reads the newest first, as many as the look has left.
func (r *Registry) versions(of Dataset, name string, l *look) ([]Version, error) {
	slots, err := r.slots(of, name)
	if err != nil {
		return nil, err
	}
	var out []Version
	for _, s := range slices.Backward(slots) {
		if !l.more() {
			r.faults.add(r.named(s.folder, name).Path(), errors.New("there are more versions than are read at a time, older ones are left out"))
			break
		}
		if v, err := r.read(of, s, l); err == nil {
			out = append(out, v)
		}
	}
	slices.Reverse(out)
	return out, nil
}

// All returns all versions of a dataset that can be read, by name and then oldest first. The error wraps ErrUnreadable where
// the folder of the dataset cannot be listed.
func (r *Registry) All(of Dataset) ([]Version, error) {
	var names []string
	for _, folder := range of.folders() {
		found, err := r.list(r.dir.In(folder))
		if err != nil {
			return nil, unreadable("the list of this dataset's models", "", err)
		}
		for _, e := range found {
			if nameForm.MatchString(e.Name()) {
				names = append(names, e.Name())
			}
		}
	}
	slices.Sort(names)
	l := &look{versions: maxVersions, bytes: maxBytes}
	var out []Version
	for _, name := range slices.Compact(names) {
		versions, err := r.versions(of, name, l)
		if err == nil { // else it is told, and costs this name only
			out = append(out, versions...)
		}
	}
	return out, nil
}

// Datasets returns the datasets that have models, by their ids. What was registered before folders named the Clowder belongs
// to each of the Clowders that have a dataset of this id, as All has it.
func (r *Registry) Datasets() []Dataset {
	var marked, plain []Dataset
	for _, d := range r.datasetFolders() {
		if d.mark == "" {
			plain = append(plain, d)
		} else {
			marked = append(marked, d)
		}
	}
	out := slices.Clone(marked)
	for _, d := range plain {
		if !slices.ContainsFunc(marked, func(m Dataset) bool { return m.ID == d.ID }) {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b Dataset) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.mark, b.mark)) })
	return out
}

// datasetFolders lists the folders of datasets. A registry that cannot be listed has none; that is told.
func (r *Registry) datasetFolders() []Dataset {
	entries, _ := r.list(r.dir)
	var out []Dataset
	for _, e := range entries {
		if d, ok := datasetIn(e.Name()); ok && e.IsDir() {
			out = append(out, d)
		}
	}
	return out
}

// slots returns the places of the versions of a name, by their numbers. Whatever has a number for its name takes that number,
// readable or not.
func (r *Registry) slots(of Dataset, name string) ([]slot, error) {
	if !nameForm.MatchString(name) {
		return nil, nil
	}
	var out []slot
	taken := map[int]bool{}
	for _, folder := range of.folders() {
		entries, err := r.list(r.named(folder, name))
		if err != nil {
			return nil, unreadable("the list of versions of the model "+name, "", err)
		}
		for _, e := range entries {
			n, err := strconv.Atoi(e.Name())
			if err == nil && n > 0 && n <= maxNumber && strconv.Itoa(n) == e.Name() && !taken[n] {
				taken[n] = true
				out = append(out, slot{folder, name, n})
			}
		}
	}
	slices.SortFunc(out, func(a, b slot) int { return cmp.Compare(a.number, b.number) })
	return out, nil
}

// list returns the entries of a folder; one that is not there has none. What cannot be listed, or not to its end, is told.
func (r *Registry) list(dir disk.Folder) ([]fs.DirEntry, error) {
	entries, err := func() ([]fs.DirEntry, error) {
		root, err := dir.Open()
		if err != nil {
			return nil, err
		}
		defer func() { _ = root.Close() }()
		return disk.List(root, ".", maxEntries+1)
	}()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && len(entries) > maxEntries {
		err = fmt.Errorf("it has more than %d entries: %w", maxEntries, disk.ErrTooLarge)
	}
	if err != nil {
		r.faults.add(dir.Path(), err)
	}
	return entries, err
}

// locate finds the place of one version.
func (r *Registry) locate(of Dataset, name string, number int) (slot, bool) {
	if !nameForm.MatchString(name) || number < 1 || number > maxNumber {
		return slot{}, false
	}
	for _, folder := range of.folders() {
		s := slot{folder, name, number}
		root, err := r.at(s).Open()
		if err == nil {
			_ = root.Close()
		}
		if !errors.Is(err, fs.ErrNotExist) { // one that cannot be opened is there as well
			return s, true
		}
	}
	return slot{}, false
}

// version returns one version, and false where there is none of this number.
func (r *Registry) version(of Dataset, name string, number int) (Version, bool, error) {
	s, ok := r.locate(of, name, number)
	if !ok {
		return Version{}, false, nil
	}
	v, err := r.read(of, s, &look{versions: 1, bytes: maxBytes})
	if err != nil {
		return Version{}, false, unreadable(fmt.Sprintf("version %d of the model %s", number, name), ", or name another version", err)
	}
	return v, true, nil
}

// newest returns the newest version of a name that can be read, and false where the name has no versions.
func (r *Registry) newest(of Dataset, name string) (Version, bool, error) {
	slots, err := r.slots(of, name)
	if err != nil || len(slots) == 0 {
		return Version{}, false, err
	}
	l := &look{versions: maxVersions, bytes: maxBytes}
	for _, s := range slices.Backward(slots) {
		var v Version
		if v, err = r.read(of, s, l); err == nil {
			return v, true, nil
		}
		if !l.more() {
			break
		}
	}
	return Version{}, false, unreadable("the versions of the model "+name, ", or name another model", err)
}

// read reads one version. What cannot be read is told to the operator once; the error says why.
func (r *Registry) read(of Dataset, s slot, l *look) (Version, error) {
	doc, err := r.readFile(r.at(s), versionFile, maxVersionFile)
	l.versions, l.bytes = l.versions-1, l.bytes-len(doc)
	var v Version
	if err == nil {
		v, err = decodeVersion(doc, of, s)
	}
	if err != nil {
		r.faults.add(r.at(s).In(versionFile).Path(), err)
	}
	return v, err
}

// readFile reads a small file of a folder. The error wraps fs.ErrNotExist where either is not there.
func (r *Registry) readFile(dir disk.Folder, name string, limit int64) ([]byte, error) {
	root, err := dir.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return disk.ReadFile(root, name, limit)
}

// change opens the folder of a name, makes it where it is not there, and closes it after f.
func (r *Registry) change(folder, name string, f func(root *os.Root) error) error {
	root, err := r.named(folder, name).Make()
	if err != nil {
		return err
	}
	return errors.Join(f(root), root.Close())
}
