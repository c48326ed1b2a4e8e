package runs

import (
	"context"
	"errors"
	"net/http"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// mayTrain reports whether a visitor with this role may start runs on the dataset.
func mayTrain(role clowder.Role) bool { return role.AtLeast(clowder.RoleUploader) }

// look returns a visitor's role in a dataset that they may see.
func (s *Section) look(ctx context.Context, dataset string) (clowder.Role, error) {
	return web.CheckRole(ctx, s.rights, dataset, clowder.RoleViewer)
}

// find returns a run that the visitor may see, and their role in its dataset. A dataset that is gone shows its runs to those who started
// them.
func (s *Section) find(ctx context.Context, run string) (job.Record, clowder.Role, error) {
	rec, err := s.records.Get(ctx, run)
	if errors.Is(err, job.ErrNotFound) || err == nil && !s.shows(rec) {
		return job.Record{}, clowder.NoRole, web.NotFound
	}
	if err != nil {
		return job.Record{}, clowder.NoRole, err
	}
	v := web.VisitorOf(ctx)
	role, err := s.rights.Role(ctx, v, rec.Request.DatasetID)
	switch {
	case err != nil:
		return job.Record{}, clowder.NoRole, err
	case role == clowder.NoRole && (!started(rec, v) || !s.datasetGone(ctx, v, rec.Request.DatasetID)):
		return job.Record{}, clowder.NoRole, web.NotFound
	}
	return rec, role, nil
}

// See returns the record of a run that the visitor of ctx may see, or web.NotFound.
func (s *Section) See(ctx context.Context, run string) (job.Record, error) {
	rec, _, err := s.find(ctx, run)
	return rec, err
}

// shows reports whether the studio shows a job at all: one of the Clowder whose page it is, on a dataset, that is no request about others.
func (s *Section) shows(rec job.Record) bool {
	return rec.Request.DatasetID != "" && s.ours(rec) && s.forms.Of(rec.Request).Kind != KindRuns
}

// started reports whether the visitor started the run.
func started(rec job.Record, v *web.Visitor) bool { return rec.User != "" && rec.User == v.Email }

// mayManage reports whether the visitor may cancel, stop and retry the run. While Clowder does not answer, nobody may: the role is an old one.
func (s *Section) mayManage(rec job.Record, role clowder.Role, v *web.Visitor) bool {
	return s.site.Outage().IsZero() && (role.CanEdit() || started(rec, v))
}

// datasetGone reports whether Clowder says that there is no such dataset.
func (s *Section) datasetGone(ctx context.Context, v *web.Visitor, id string) bool {
	_, _, err := s.clowder.Dataset(ctx, v, id)
	return clowder.StatusOf(err) == http.StatusNotFound
}
