package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ncsa/clowder-ray/internal/job"
)

// crowned is champion.json.
type crowned struct {
	Version int    `json:"version"`
	Run     string `json:"run"`
}

// Champion returns the best version of a name, or nil where there is none.
func (r *Registry) Champion(dataset, name string) (*Version, error) {
	dir := filepath.Join(r.dir, dataset, name)
	c, err := readJSON[crowned](filepath.Join(dir, championFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no champion is no error and no version
	}
	if err != nil {
		return nil, err
	}
	v, err := readJSON[Version](filepath.Join(dir, strconv.Itoa(c.Version), versionFile))
	if errors.Is(err, fs.ErrNotExist) { // an operator has removed it
		return nil, nil //nolint:nilnil // as above
	}
	return &v, err
}

// Promote makes a version the champion of its name, whatever its scores.
func (r *Registry) Promote(dataset, name string, number int) (Version, error) {
	versions, err := r.Versions(dataset, name)
	if err != nil {
		return Version{}, err
	}
	i := slices.IndexFunc(versions, func(v Version) bool { return v.Version == number })
	if i < 0 {
		return Version{}, job.Permanent(fmt.Errorf("there is no version %s/%d: see extractor models", name, number))
	}
	r.judging.Lock()
	defer r.judging.Unlock()
	return versions[i], r.write(versions[i])
}

// crown makes a version the champion that was to become it when it was registered. One that is newer stays: it was compared
// with its own champion later.
func (r *Registry) crown(v Version) error {
	if !v.Won() {
		return nil
	}
	present, err := r.Champion(v.dataset(), v.Name)
	if err != nil || present != nil && present.Version >= v.Version {
		return err
	}
	return r.write(v)
}

func (r *Registry) write(v Version) error {
	path := filepath.Join(r.dir, v.dataset(), v.Name, championFile)
	if err := writeJSON(path, crowned{Version: v.Version, Run: v.Run}); err != nil {
		return fmt.Errorf("make %s the champion: %w", v.Ref(), err)
	}
	return nil
}
