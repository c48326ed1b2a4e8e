package status

import (
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Say queues a status that the user should read, as a line of its own. It may be lost if the service is killed.
func (r *Reporter) Say(rec job.Record, sentence string) {
	r.enqueue(rec, message.Status{Text: sentence})
}

// Remark is Say for a line that may share a status with other remarks and with the end of the job, which so waits for none of them.
func (r *Reporter) Remark(rec job.Record, sentence string) {
	r.enqueue(rec, message.Status{Text: sentence, Note: true})
}

// SayPassing queues a status about the current activity. A newer status replaces it if it was not sent yet.
func (r *Reporter) SayPassing(rec job.Record, sentence string) {
	r.enqueue(rec, message.Status{Text: sentence, Passing: true})
}

// SayProgress queues a status about how far a training is. A newer one replaces it if it was not sent yet.
func (r *Reporter) SayProgress(rec job.Record, sentence string) {
	r.enqueue(rec, message.Status{Text: sentence, Progress: true})
}

// enqueue completes a status of a job that goes on, and queues it.
func (r *Reporter) enqueue(rec job.Record, s message.Status) {
	s.Kind, s.Text, s.At = message.StatusProcessing, text.Capital(s.Text), time.Now()
	r.Enqueue(rec.Run, rec.Request, s)
}
