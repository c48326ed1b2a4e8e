package life

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
)

// due picks the stage of a job: its end and its cancellation come before the tables.
func (s Stages) due(rec job.Record) stage.Stage {
	switch {
	case rec.Ending != nil:
		return stage.Stage{Run: s.Ending.finish, Tries: stage.DeliveryTries, Pause: stage.MaxPause}
	case rec.CancelledBy != "":
		return stage.Stage{Run: cancel, Tries: 1}
	}
	stages := s.Jobs
	if rec.Kind == job.Runs {
		stages = s.Requests
	}
	for _, st := range stages {
		if st.From == rec.State {
			return st
		}
	}
	return stage.Stage{Run: func(context.Context, job.Record) (stage.Change, error) {
		return nil, job.Permanent(fmt.Errorf("the record is in an unknown state %q", rec.State))
	}}
}

// guard runs a stage; a panic in it fails this job and no other.
func guard(ctx context.Context, rec job.Record, st stage.Stage, log *zap.Logger) (apply stage.Change, err error) {
	defer func() {
		if v := recover(); v != nil {
			log.Error("panic in a stage", zap.String("run", rec.Run), zap.Any("panic", v), zap.ByteString("stack", debug.Stack()))
			err = job.Permanent(errors.New("an internal error ended this job: report it to the administrator of the extractor"))
		}
	}()
	return st.Run(ctx, rec)
}
