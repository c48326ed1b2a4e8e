package models

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/ncsa/clowder-ray/internal/answer"
	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// Registry is where the models are.
type Registry interface {
	All(of registry.Dataset) ([]registry.Version, error)
	Versions(of registry.Dataset, name string) ([]registry.Version, error)
	Champion(of registry.Dataset, name string) (*registry.Version, error)
	Model(v registry.Version) disk.Folder
	History(of registry.Dataset, name string) ([]registry.Prediction, error)
}

// Answers gives single answers of models.
type Answers interface {
	Describe(ctx context.Context, m answer.Model) (answer.Description, error)
	Infer(ctx context.Context, m answer.Model, inputs []answer.Tensor) (answer.Answer, error)
	Forward(ctx context.Context, m answer.Model, request []byte) ([]byte, error)
}

// Commands applies the commands of people. The section has checked that they may.
type Commands interface {
	// Promote makes a version the champion of its name, and notes it on the dataset with the visitor's credential.
	Promote(ctx context.Context, by *web.Visitor, v registry.Version) error
	// Export asks Clowder, with the visitor's credential, for the model as model.zip in its dataset.
	Export(ctx context.Context, by *web.Visitor, v registry.Version) error
}

// Parts are what the section needs from others.
type Parts struct {
	Registry Registry
	Answers  Answers
	Rights   web.Rights
	Commands Commands
	// Clowder is the address of the Clowder whose datasets these are, as the registry knows it.
	Clowder string
	// Starter is the e-mail address of the person who started a run, empty where nobody knows.
	Starter func(ctx context.Context, run string) string
	// MinConfidence is the confidence below which the newest prediction of a dataset calls an answer unsure.
	MinConfidence func(ctx context.Context, dataset string) float64
	// Result is what the training of a run left, nil where its folder is gone.
	Result func(run string) *results.Result
	// WriteZip writes model.zip of a version.
	WriteZip func(ctx context.Context, v registry.Version, w http.ResponseWriter) error
	// Manifest is a Kubernetes manifest for a version: deployment, kserve or rayservice.
	Manifest func(v registry.Version, as string) (string, error)
	// AnswersPerMinute is how many questions one person may ask.
	AnswersPerMinute int
}

// Section is the part of the studio about models. It is safe for concurrent use.
type Section struct {
	Parts
	site  *web.Site
	pages pages
	quota *web.Quota
	now   func() time.Time
}

// New returns the section.
func New(site *web.Site, p Parts) *Section {
	return &Section{Parts: p, site: site, pages: newPages(site), quota: web.NewQuota(p.AnswersPerMinute, "questions to models"), now: time.Now}
}

func (s *Section) dataset(id string) registry.Dataset {
	return registry.Dataset{Clowder: s.Clowder, ID: id}
}

// model returns the versions of a model, newest first, and its champion, nil for none. The visitor must be allowed to see the dataset.
func (s *Section) model(ctx context.Context, dataset, name string) ([]registry.Version, *registry.Version, clowder.Role, error) {
	role, err := web.CheckRole(ctx, s.Rights, dataset, clowder.RoleViewer)
	if err != nil {
		return nil, nil, role, err
	}
	versions, err := s.Registry.Versions(s.dataset(dataset), name)
	if err != nil {
		return nil, nil, role, err
	}
	if len(versions) == 0 {
		return nil, nil, role, web.NotFound
	}
	slices.Reverse(versions)
	champion, err := s.Registry.Champion(s.dataset(dataset), name)
	if err != nil && !errors.Is(err, registry.ErrUnreadable) {
		return nil, nil, role, err
	}
	return versions, champion, role, nil
}

// version returns one version by its number, or "champion". Without a champion that is the newest.
func (s *Section) version(ctx context.Context, dataset, name, number string) (registry.Version, clowder.Role, error) {
	versions, champion, role, err := s.model(ctx, dataset, name)
	if err != nil {
		return registry.Version{}, role, err
	}
	if number == "champion" && champion != nil {
		return *champion, role, nil
	}
	if number == "champion" || number == "" {
		return versions[0], role, nil
	}
	i := slices.IndexFunc(versions, func(v registry.Version) bool { return number == numberOf(v) })
	if i < 0 {
		return registry.Version{}, role, web.NotFound
	}
	return versions[i], role, nil
}

// mayPromote reports whether the visitor may make the version the champion: editors may, and who started the run may.
func (s *Section) mayPromote(ctx context.Context, v registry.Version, role clowder.Role) bool {
	visitor := web.VisitorOf(ctx)
	if role.CanEdit() {
		return true
	}
	return role.AtLeast(clowder.RoleUploader) && visitor != nil && visitor.Email != "" && s.Starter(ctx, v.Run) == visitor.Email
}

// promote makes a version the champion.
func (s *Section) promote(ctx context.Context, dataset, name, number string) (registry.Version, error) {
	v, role, err := s.version(ctx, dataset, name, number)
	if err != nil {
		return v, err
	}
	if !s.mayPromote(ctx, v, role) {
		return v, &web.Problem{
			Type: "forbidden", Title: "Your role does not allow this", Status: http.StatusForbidden,
			Detail: "Only editors of the dataset, and the person who trained this version, can make it the champion.",
			Do:     "Ask an owner of the dataset to do it, or to make you an editor in Clowder.",
		}
	}
	return v, s.Commands.Promote(ctx, web.VisitorOf(ctx), v)
}

// export puts a version into its dataset as model.zip.
func (s *Section) export(ctx context.Context, dataset, name, number string) error {
	v, _, err := s.version(ctx, dataset, name, number)
	if err != nil {
		return err
	}
	if _, err := web.CheckRole(ctx, s.Rights, dataset, clowder.RoleUploader); err != nil {
		return err
	}
	return s.Commands.Export(ctx, web.VisitorOf(ctx), v)
}
