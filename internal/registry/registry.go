package registry

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
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
	// championLock is held while a version is compared with the champion and replaces it.
	championLock sync.Mutex
	// historyLock is held while a prediction is added to a history.
	historyLock sync.Mutex
	problems    problems
}

// New returns the registry in dir. The folder need not exist.
func New(dir disk.Folder) *Registry { return &Registry{dir: dir} }

const (
	modelDir     = "model"
	versionFile  = "version.json"
	runFile      = "run"
	championFile = "champion.json"
)

const (
	// maxEntries is the number of entries of one folder that are read at most.
	maxEntries = 100_000
	// maxVersions and maxBytes limit what one operation reads of the versions of a dataset.
	maxVersions = 10_000
	maxBytes    = 64 << 20
	// maxNumber is the largest version number.
	maxNumber = 999_999_999
)

// slot is the location of a version: the folder of a dataset, a name and a number.
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
	return r.at(slot{v.Folder(), v.Name, v.Version}).In(modelDir)
}

// Digest is the sha256 of version.json of a version, in hex. The file lists the hashes of all files of the model, so it identifies them.
func (r *Registry) Digest(v Version) (string, error) {
	doc, err := r.readFile(r.at(slot{v.Folder(), v.Name, v.Version}), versionFile, maxVersionFile)
	if err != nil {
		return "", unreadable("the model "+v.Ref(), "", err)
	}
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:]), nil
}

// Versions returns the readable versions of a name, oldest first. The error wraps ErrUnreadable if the folder of the name cannot be
// listed.
func (r *Registry) Versions(of Dataset, name string) ([]Version, error) {
	return r.versions(of, name, &readBudget{versions: maxVersions, bytes: maxBytes})
}

// versions reads the newest versions first, until the budget is used up.
func (r *Registry) versions(of Dataset, name string, l *readBudget) ([]Version, error) {
	slots, err := r.slots(of, name)
	if err != nil {
		return nil, err
	}
	var out []Version
	for _, s := range slices.Backward(slots) {
		if !l.left() {
			r.problems.add(r.named(s.folder, name).Path(), errors.New("the folder has too many versions: older ones are skipped"))
			break
		}
		if v, err := r.read(of, s, l); err == nil {
			out = append(out, v)
		}
	}
	slices.Reverse(out)
	return out, nil
}

// All returns the readable versions of a dataset, sorted by name and then oldest first. The error wraps ErrUnreadable if the folder of the
// dataset cannot be listed.
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
	l := &readBudget{versions: maxVersions, bytes: maxBytes}
	var out []Version
	for _, name := range slices.Compact(names) {
		versions, err := r.versions(of, name, l)
		if err == nil { // otherwise the problem is reported and only this name is skipped
			out = append(out, versions...)
		}
	}
	return out, nil
}

// Datasets returns the datasets that have models, sorted by id. A folder without a mark belongs to each Clowder with a dataset of this id,
// as in All.
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

// datasetFolders lists the folders of datasets. If the registry cannot be listed, that is reported and the list is empty.
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

// slots returns the locations of the versions of a name, sorted by number. Each entry whose name is a number uses that number, readable
// or not.
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

// list returns the entries of a folder, none if it does not exist. A folder that cannot be listed completely is reported.
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
		r.problems.add(dir.Path(), err)
	}
	return entries, err
}

// locate finds the location of one version.
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
		if !errors.Is(err, fs.ErrNotExist) { // a folder that cannot be opened exists
			return s, true
		}
	}
	return slot{}, false
}

// version returns one version, or false if there is none with this number.
func (r *Registry) version(of Dataset, name string, number int) (Version, bool, error) {
	s, ok := r.locate(of, name, number)
	if !ok {
		return Version{}, false, nil
	}
	v, err := r.read(of, s, &readBudget{versions: 1, bytes: maxBytes})
	if err != nil {
		return Version{}, false, unreadable(fmt.Sprintf("version %d of the model %s", number, name), ", or enter another version", err)
	}
	return v, true, nil
}

// newest returns the newest readable version of a name, or false if the name has no versions.
func (r *Registry) newest(of Dataset, name string) (Version, bool, error) {
	slots, err := r.slots(of, name)
	if err != nil || len(slots) == 0 {
		return Version{}, false, err
	}
	l := &readBudget{versions: maxVersions, bytes: maxBytes}
	for _, s := range slices.Backward(slots) {
		var v Version
		if v, err = r.read(of, s, l); err == nil {
			return v, true, nil
		}
		if !l.left() {
			break
		}
	}
	return Version{}, false, unreadable("the versions of the model "+name, ", or enter another model", err)
}

// read reads one version. If it is unreadable, that is reported to the operator once.
func (r *Registry) read(of Dataset, s slot, l *readBudget) (Version, error) {
	doc, err := r.readFile(r.at(s), versionFile, maxVersionFile)
	l.versions, l.bytes = l.versions-1, l.bytes-len(doc)
	var v Version
	if err == nil {
		v, err = decodeVersion(doc, of, s)
	}
	if err != nil {
		r.problems.add(r.at(s).In(versionFile).Path(), err)
	}
	return v, err
}

// readFile reads a small file of a folder. The error wraps fs.ErrNotExist if the folder or the file does not exist.
func (r *Registry) readFile(dir disk.Folder, name string, limit int64) ([]byte, error) {
	root, err := dir.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	for {
		doc, err := disk.ReadFile(root, name, limit)
		if _, missing := root.Lstat(name); missing != nil || !errors.Is(err, fs.ErrNotExist) {
			return doc, err
		}
		// A writer replaced the file while it was opened: it exists, so it is read again.
	}
}

// change opens the folder of a name, makes it if it does not exist, and closes it after f.
func (r *Registry) change(folder, name string, f func(root *os.Root) error) error {
	root, err := r.named(folder, name).Make()
	if err != nil {
		return err
	}
	return errors.Join(f(root), root.Close())
}
