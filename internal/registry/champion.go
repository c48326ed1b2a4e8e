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

// crowned is champion.json.
type crowned struct {
	Version int    `json:"version"`
	Run     string `json:"run"`
}

// maxChampionFile is the most that is read of champion.json.
const maxChampionFile = 64 << 10

// Champion returns the best version of a name, or nil where there is none. The error wraps ErrUnreadable where it is not known
// which version that is, or where that one cannot be read.
func (r *Registry) Champion(of Dataset, name string) (*Version, error) {
	number, err := r.title(of, name)
	if number == 0 || err != nil {
		return nil, err
	}
	s, ok := r.locate(of, name, number)
	if !ok { // an operator has removed it
		return nil, nil //nolint:nilnil // no champion is no error and no version
	}
	v, err := r.read(of, s, &look{versions: 1, bytes: maxBytes})
	if err != nil {
		return nil, unreadableChampion(name, err)
	}
	return &v, nil
}

func unreadableChampion(name string, cause error) error {
	return unreadable("the champion of the model "+name, ", or name a version", cause)
}

// title returns the number of the champion, 0 where there is none.
func (r *Registry) title(of Dataset, name string) (int, error) {
	if !nameForm.MatchString(name) {
		return 0, nil
	}
	for _, folder := range of.folders() {
		dir := r.named(folder, name)
		doc, err := r.readFile(dir, championFile, maxChampionFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var c crowned
		if err == nil {
			err = json.Unmarshal(doc, &c)
		}
		if err == nil && (c.Version < 1 || c.Version > maxNumber) {
			err = errors.New("it names no version")
		}
		if err != nil {
			r.faults.add(dir.In(championFile).Path(), err)
			return 0, unreadableChampion(name, err)
		}
		return c.Version, nil
	}
	return 0, nil
}

// Promote makes a version the champion of its name, whatever its scores. After a nil error the title is on disk.
func (r *Registry) Promote(of Dataset, name string, number int) (Version, error) {
	v, ok, err := r.version(of, name, number)
	if err != nil {
		return Version{}, err
	}
	if !ok {
		return Version{}, job.Permanent(fmt.Errorf("there is no version %s/%d: see extractor models", name, number))
	}
	r.judging.Lock()
	defer r.judging.Unlock()
	return v, r.write(of, v)
}

// crown makes a version the champion that was to become it when it was registered. One that is newer stays: it was compared
// with its own champion later.
func (r *Registry) crown(of Dataset, v Version) error {
	if !v.Won() {
		return nil
	}
	number, err := r.title(of, v.Name)
	if err == nil && number >= v.Version {
		if _, there := r.locate(of, v.Name, number); there {
			return nil
		}
	}
	if err != nil && !errors.Is(err, ErrUnreadable) {
		return err
	}
	return r.write(of, v) // also where nobody can read who has the title
}

func (r *Registry) write(of Dataset, v Version) error {
	doc, err := encode(crowned{Version: v.Version, Run: v.Run}, maxChampionFile)
	if err == nil {
		err = r.change(of.Folder(), v.Name, func(root *os.Root) error { return disk.WriteFile(root, championFile, doc) })
	}
	if err != nil {
		return fmt.Errorf("make %s the champion: %w", v.Ref(), pathless(err))
	}
	return nil
}
