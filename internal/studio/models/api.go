package models

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ncsa/clowder-ray/internal/studio/web"
)

type datasetQuery struct {
	Dataset string `query:"dataset" required:"true" maxLength:"64"`
}

type modelPath struct {
	Dataset string `path:"dataset" maxLength:"64"`
	Name    string `path:"name" maxLength:"60"`
}

type versionPath struct {
	Dataset string `path:"dataset" maxLength:"64"`
	Name    string `path:"name" maxLength:"60"`
	Version string `path:"version" maxLength:"10" doc:"A number, or champion"`
}

// Operations adds the operations of the API.
func (s *Section) Operations(api huma.API) {
	type listed struct {
		Body struct {
			Models []TrainedModel `json:"models"`
		}
	}
	huma.Register(api, operation(http.MethodGet, "/api/v1/models", "list-models", "The models of a dataset, the newest first"),
		problems(func(ctx context.Context, in *datasetQuery) (*listed, error) {
			var out listed
			var err error
			out.Body.Models, _, _, err = s.list(ctx, in.Dataset)
			return &out, err
		}))
	type oneModel struct{ Body TrainedModel }
	huma.Register(api, operation(http.MethodGet, "/api/v1/models/{dataset}/{name}", "get-model", "A model with all its versions and its champion"),
		problems(func(ctx context.Context, in *modelPath) (*oneModel, error) {
			m, _, _, err := s.whole(ctx, in.Dataset, in.Name)
			return &oneModel{m}, err
		}))
	type oneVersion struct{ Body ModelVersion }
	huma.Register(api, operation(http.MethodGet, "/api/v1/models/{dataset}/{name}/{version}", "get-version", "One version of a model, and what it reads"),
		problems(func(ctx context.Context, in *versionPath) (*oneVersion, error) {
			v, _, err := s.version(ctx, in.Dataset, in.Name, in.Version)
			if err != nil {
				return nil, err
			}
			_, champion, _, err := s.model(ctx, in.Dataset, in.Name)
			return &oneVersion{s.detailed(v, champion)}, err
		}))
	huma.Register(api, operation(http.MethodPost, "/api/v1/models/{dataset}/{name}/{version}/promote", "promote-version", "Make a version the champion"),
		problems(func(ctx context.Context, in *versionPath) (*oneVersion, error) {
			v, err := s.promote(ctx, in.Dataset, in.Name, in.Version)
			if err != nil {
				return nil, err
			}
			return &oneVersion{s.detailed(v, &v)}, nil
		}))
	s.predictOperation(api)
	type past struct{ Body History }
	type named struct {
		Dataset string `path:"dataset" maxLength:"64"`
		Name    string `path:"name" maxLength:"60"`
	}
	huma.Register(api, operation(http.MethodGet, "/api/v1/models/{dataset}/{name}/history", "history", "The automatic predictions of a model, oldest first"),
		problems(func(ctx context.Context, in *named) (*past, error) {
			found, err := s.history(ctx, in.Dataset, in.Name)
			return &past{found}, err
		}))
}

func (s *Section) predictOperation(api huma.API) {
	type question struct {
		Dataset string `path:"dataset" maxLength:"64"`
		Name    string `path:"name" maxLength:"60"`
		Version string `path:"version" maxLength:"10" doc:"A number, or champion"`
		Body    struct {
			Rows []map[string]any `json:"rows" minItems:"1" maxItems:"64" doc:"Each row is an object from column to value; texts have the column text, images the column image in base64"`
			// Why asks for the reasons, too.
			Why bool `json:"why,omitempty" doc:"Say which columns, words or parts of a picture raise the answer and which lower it, for one row"`
			// MinConfidence is as in predictions.
			MinConfidence *float64 `json:"min_confidence,omitempty" minimum:"0" maximum:"1" doc:"Answers below this confidence are marked as unsure. Without it that of the newest prediction of the dataset that has one counts, else 0.6"`
		}
	}
	type reply struct{ Body ModelAnswer }
	op := operation(http.MethodPost, "/api/v1/models/{dataset}/{name}/{version}/predict", "predict", "Let a version answer up to 64 rows at once")
	op.MaxBodyBytes = maxImage*2 + maxText
	huma.Register(api, op, problems(func(ctx context.Context, in *question) (*reply, error) {
		v, _, err := s.version(ctx, in.Dataset, in.Name, in.Version)
		if err != nil {
			return nil, err
		}
		sure := s.MinConfidence(ctx, in.Dataset)
		if in.Body.MinConfidence != nil {
			sure = *in.Body.MinConfidence
		}
		if in.Body.Why && len(in.Body.Rows) != 1 {
			return nil, invalid("Why is answered for one row at a time.")
		}
		found, err := s.ask(ctx, v, in.Body.Rows, sure)
		if err == nil && in.Body.Why {
			found.Rows[0].Why, err = s.reasons(ctx, v, in.Body.Rows[0])
		}
		return &reply{found}, err
	}))
}

// problems makes the errors of an operation problems that a visitor may read.
func problems[I, O any](do func(context.Context, *I) (*O, error)) func(context.Context, *I) (*O, error) {
	return func(ctx context.Context, in *I) (*O, error) {
		out, err := do(ctx, in)
		if err != nil {
			return nil, web.AsProblem(err)
		}
		return out, nil
	}
}

func operation(method, path, id, summary string) huma.Operation {
	return huma.Operation{Method: method, Path: path, OperationID: id, Summary: summary, Tags: []string{"models"}}
}
