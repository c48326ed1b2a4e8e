package intake

import (
	"context"
	"errors"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/queue"
)

// announce handles a message that says that a file was added to a dataset, and acknowledges it.
func (in *Intake) announce(ctx context.Context, d *queue.Delivery, req job.Request, key job.Secret) error {
	if len(req.Announced) == 0 {
		if req.Kind != job.File {
			return in.skip(d, req, errors.New("nothing is submitted to this extractor: to predict the files of the dataset, submit it to "+in.cfg.Extractors.Predictor()))
		}
		req.Announced = []job.Announced{{File: req.ResourceID, JobID: req.JobID}}
	}
	if req.DatasetID == "" {
		return in.skip(d, req, errors.New("the file is in no dataset, so nothing asks for its prediction"))
	}
	req.Parameters, req.NoParameters, req.Name = nil, false, "" // nobody chooses settings for it
	rec, entry, err := in.announcements.Add(ctx, req, key, d.Redelivered)
	if kind, _ := job.Classify(err); err != nil && kind == job.KindPermanent {
		return in.reject(ctx, d, req, err, true)
	}
	if err != nil {
		return err
	}
	switch entry {
	case Known:
		err = in.repeated(ctx, d.Redelivered, rec, req, key)
	case Begins:
		in.cfg.Slots.Active(rec.Kind).Add(rec.Run, rec.Owner)
		in.cfg.Loop.Delay(rec)
	case Joined:
		in.cfg.Loop.Delay(rec)
		fallthrough
	case Held:
		in.sayJoined(req, rec.Run)
	}
	if err == nil {
		err = acked(d)
	}
	if err != nil {
		return err
	}
	crash.At(crash.Acked)
	in.cfg.Metrics.Received(entry == Begins)
	return nil
}

// sayJoined ends what Clowder shows of a file whose run another file began.
func (in *Intake) sayJoined(req job.Request, run string) {
	if req.JobID != "" && req.ReplyTo != "" {
		in.cfg.Statuses.Enqueue("joined-"+req.BodyHash, req, message.Status{
			Kind: message.StatusSkip, Text: "Run " + run + " looks at this file together with the other new files", At: time.Now(),
		})
	}
}
