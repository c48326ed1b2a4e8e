package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// championDoc is the content of champion.json.
type championDoc struct {
	Version int    `json:"version"`
	Run     string `json:"run"`
}

// maxChampionFile is the size in bytes of the largest champion.json that is read.
const maxChampionFile = 64 << 10

// Champion returns the best version of a name, or nil if there is none. The error wraps ErrUnreadable if champion.json or the version
// cannot be read.
func (r *Registry) Champion(of Dataset, name string) (*Version, error) {
	number, err := r.championNumber(of, name)
	if number == 0 || err != nil {
		return nil, err
	}
	s, ok := r.locate(of, name, number)
	if !ok { // an operator has removed it
		return nil, nil //nolint:nilnil // without a champion there is neither a version nor an error
	}
	v, err := r.read(of, s, &readBudget{versions: 1, bytes: maxBytes})
	if err != nil {
		return nil, unreadableChampion(name, err)
	}
	return &v, nil
}

func unreadableChampion(name string, cause error) error {
	return unreadable("the champion of the model "+name, ", or enter a version", cause)
}

// championNumber returns the number of the champion, or 0 if there is none.
func (r *Registry) championNumber(of Dataset, name string) (int, error) {
	if !nameForm.MatchString(name) {
		return 0, nil
	}
	for _, folder := range of.folders() {
		dir := r.named(folder, name)
		doc, err := r.readFile(dir, championFile, maxChampionFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var c championDoc
		if err == nil {
			err = json.Unmarshal(doc, &c)
		}
		if err == nil && (c.Version < 1 || c.Version > maxNumber) {
			err = errors.New("it has no valid version")
		}
		if err != nil {
			r.problems.add(dir.In(championFile).Path(), err)
			return 0, unreadableChampion(name, err)
		}
		return c.Version, nil
	}
	return 0, nil
}

// Promote makes a version the champion of its name, also with lower scores. After a nil error the change is on disk.
func (r *Registry) Promote(of Dataset, name string, number int) (Version, error) {
	v, ok, err := r.version(of, name, number)
	if err != nil {
		return Version{}, err
	}
	if !ok {
		return Version{}, job.Permanent(fmt.Errorf("there is no version %s/%d: list the versions with extractor models", name, number))
	}
	r.championLock.Lock()
	defer r.championLock.Unlock()
	return v, r.write(of, v)
}

// crownWinner makes a version the champion if it won when it was registered. A newer champion stays, because it was compared later.
func (r *Registry) crownWinner(of Dataset, v Version) error {
	if !v.Won() {
		return nil
	}
	number, err := r.championNumber(of, v.Name)
	if err == nil && number >= v.Version {
		if _, there := r.locate(of, v.Name, number); there {
			return nil
		}
	}
	if err != nil && !errors.Is(err, ErrUnreadable) {
		return err
	}
	return r.write(of, v) // also if champion.json cannot be read
}

func (r *Registry) write(of Dataset, v Version) error {
	doc, err := encode(championDoc{Version: v.Version, Run: v.Run}, maxChampionFile)
	if err == nil {
		err = r.change(of.Folder(), v.Name, func(root *os.Root) error { return disk.WriteFile(root, championFile, doc) })
	}
	if err != nil {
		return fmt.Errorf("make %s the champion: %w", v.Ref(), withoutPath(err))
	}
	return nil
}
