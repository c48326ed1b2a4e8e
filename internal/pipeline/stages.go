package pipeline

import (
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/life"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
)

// stages are the life of a job and that of a request about another job or a model: each line takes the job from its state to the next one.
// docs/architecture.md draws the states, and intake makes the records that begin here.
//
// Slots bounds how many jobs are in a stage at once. Between two tries of a stage the pause grows up to Pause. A stage of which the service
// itself does the work has the tries that the operator allows; one that waits for a Ray or a Clowder goes on for days.
func (p *parts) stages(tries int) life.Stages {
	return life.Stages{
		Jobs: []stage.Stage{
			{From: job.Accepted, Run: p.stager.StageInputs, Slots: p.slots.Downloads, Tries: tries, Pause: stage.MaxPause, Interruptible: true},
			{From: job.Staged, Run: p.submitter.Submit, Slots: p.slots.Submits, OnRay: true, Tries: max(tries, stage.SubmitTries), Pause: stage.WatchPause},
			{From: job.Submitted, Run: p.watcher.Watch, Slots: p.slots.Observers, OnRay: true, Tries: stage.WatchTries, Pause: stage.WatchPause, Interruptible: true},
			{From: job.Running, Run: p.watcher.Watch, Slots: p.slots.Observers, OnRay: true, Tries: stage.WatchTries, Pause: stage.WatchPause, Interruptible: true},
			{From: job.Finished, Run: p.deliverer.Collect, Slots: p.slots.Builds, Tries: tries, Pause: stage.MaxPause},
			{From: job.Collected, Run: p.deliverer.Upload, Slots: p.slots.Uploads, Tries: stage.DeliveryTries, Pause: stage.MaxPause},
		},
		Requests: []stage.Stage{
			{From: job.Accepted, Run: p.requests.Choose, Tries: tries, Pause: stage.MaxPause},
			{From: job.Staged, Run: p.requests.Act, Tries: tries, Pause: stage.MaxPause},
			{From: job.Collected, Run: p.requests.Models.Export, Slots: p.slots.Uploads, Tries: stage.DeliveryTries, Pause: stage.MaxPause},
		},
		Ending: p.ending, // from any state: it sends the last status of a job whose end is decided
	}
}
