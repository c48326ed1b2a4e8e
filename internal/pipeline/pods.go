package pipeline

import (
	"context"
	"fmt"
	"path"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// trainerPause is how long jobs wait until a trainer that cannot be brought back is looked at again.
const trainerPause = time.Minute

// trainerChecked is how old a look at the trainer may be at a submission. Reading all of it takes as much as a small job does otherwise,
// and many jobs may be submitted at once.
const trainerChecked = time.Second

// prepare makes ready what an attempt finds on the shared volume: the trainer as this program brought it, and a run folder into
// which the pods can write, which run as another user of the same group.
func (p *Pipeline) prepare(ctx context.Context, rec job.Record) error {
	if p.cfg.CheckTrainer != nil {
		if _, err := p.trainer.Get(ctx); err != nil {
			if ctx.Err() != nil {
				return err
			}
			return job.Later(trainerPause, &rayjob.SettingError{Setting: "SHARED_DIR", Text: fmt.Sprintf("SHARED_DIR: the trainer cannot be installed or checked: %v", err)})
		}
	}
	return p.cfg.Volume.Share(rec.Run)
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
