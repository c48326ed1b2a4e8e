package pipeline

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

const (
	// groupAll lets the group of a folder list it, enter it and change it.
	groupAll = 0o070
	// trainerPause is how long jobs wait until a trainer that cannot be brought back is looked at again.
	trainerPause = time.Minute
)

// prepare makes ready what an attempt finds on the shared volume: the trainer as this program brought it, and a run folder into
// which the pods can write, which run as another user of the same group.
func (p *Pipeline) prepare(rec job.Record) error {
	if p.cfg.CheckTrainer != nil {
		if err := p.cfg.CheckTrainer(); err != nil {
			return job.Later(trainerPause, &rayjob.SettingError{Setting: "SHARED_DIR", Text: fmt.Sprintf("SHARED_DIR: the trainer cannot be made ready: %v", err)})
		}
	}
	return p.cfg.Volume.share(rec.Run)
}

// share opens the folder of a run to the group. What umask the service was started with does not matter.
func (v Volume) share(run string) (err error) {
	root, err := disk.Folder{Volume: v.Dir, Name: path.Join("runs", run)}.Open()
	if err != nil {
		return fmt.Errorf("open the run folder: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	info, err := root.Stat(".")
	if err != nil || info.Mode()&groupAll == groupAll {
		return err
	}
	if err := root.Chmod(".", info.Mode()&(fs.ModePerm|fs.ModeSetgid)|groupAll); err != nil {
		return fmt.Errorf("open the run folder to the group of the volume: %w", err)
	}
	return nil
}

// reads are the folders of the volume that an attempt is to read beside its own: the base models, and the registered models that its
// spec names.
func (p *Pipeline) reads(run string, spec Spec) []string {
	reads := []string{"models"}
	for _, m := range []*SpecModel{spec.Model, spec.Champion} {
		if m != nil {
			reads = append(reads, path.Join("runs", run, m.Path))
		}
	}
	return reads
}
