package runs

import (
	"context"
	"net/http"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// act does something to a run on behalf of the visitor, and returns what became of it in a sentence. Cancel and stop are the commands of the
// command line and of Clowder's form. Retry is sent through Clowder with the visitor's own credential, because a job of Clowder that has
// failed shows no more statuses: the job of the request shows them.
func (s *Section) act(ctx context.Context, run, action, key string) (string, error) {
	rec, role, err := s.find(ctx, run)
	if err != nil {
		return "", err
	}
	v := web.VisitorOf(ctx)
	if !s.mayManage(rec, role, v) {
		return "", s.mayNot(role)
	}
	switch action {
	case ActionCancel:
		return "The run is being cancelled.", s.commands.Cancel(ctx, run, v.Email)
	case ActionStop:
		if s.forms.Of(rec.Request).Keeps == "" {
			return "", &web.Problem{Type: "refused", Title: "This is not possible", Status: http.StatusConflict, Detail: "A prediction has nothing to keep before it ends.", Do: "Cancel it instead."}
		}
		return "The run stops after this step and keeps what it has.", s.commands.Stop(ctx, run, v.Email)
	default:
		return "The run is sent to Clowder again.", s.retry(ctx, rec, key)
	}
}

// mayNot is the answer to a visitor who may look at a run and not change it.
func (s *Section) mayNot(role clowder.Role) error {
	if !s.site.Outage().IsZero() {
		return &web.Problem{
			Type: "clowder", Title: "Clowder does not answer", Status: http.StatusBadGateway,
			Detail: "Clowder does not answer, so the studio cannot ask whether you may do this.", Do: "Try again when it does.",
		}
	}
	return &web.Problem{
		Type: "forbidden", Title: "Your role does not allow this", Status: http.StatusForbidden,
		Detail: "Somebody else started this run, and you are " + string(role) + " of the dataset.", Do: "Ask the person who started it, or an editor of the dataset.",
	}
}

// retryable returns why a run cannot be retried, or nil. The key of its user need not be there: another comes with the request.
func retryable(rec job.Record) error {
	rec.SecretKey = "the key that comes with the request"
	return rec.Retry()
}

// retry asks the extractor that manages runs to run it again in its place.
func (s *Section) retry(ctx context.Context, rec job.Record, key string) error {
	if err := retryable(rec); err != nil {
		return err
	}
	manager, ok := s.forms.manager()
	if !ok {
		return &web.Problem{Type: "refused", Title: "This is not possible", Status: http.StatusConflict, Detail: "This service has no extractor that manages runs.", Do: "Run it again instead."}
	}
	v := web.VisitorOf(ctx)
	_, err := s.sent.make(v.Session, key, s.now(), func() (Sent, error) {
		job, err := s.clowder.Submit(ctx, v, rec.Request.DatasetID, manager.Name, map[string]any{"action": "retry", "run": rec.Run})
		return Sent{Run: manager.Name + " " + job, JobID: job, At: s.now()}, err
	})
	return err
}
