package edit

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/options"
	"github.com/ncsa/clowder-ray/internal/studio/edit/check"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// maxBody is the size in bytes of a request with a text of maxText bytes, which JSON can write with six bytes for one.
const maxBody = 6*maxText + 64<<10

type datasetInput struct {
	Dataset string `path:"dataset" maxLength:"64" doc:"Id of the dataset in Clowder"`
}

type fileInput struct {
	Dataset string `path:"dataset" maxLength:"64" doc:"Id of the dataset in Clowder"`
	File    string `path:"file" maxLength:"64" doc:"Id of the file in Clowder"`
}

type listOutput struct {
	Body struct {
		Files  []Listed `json:"files" doc:"The text files of the dataset, settings first"`
		Others int      `json:"others" doc:"How many further files the dataset has"`
	}
}

type readInput struct {
	Dataset string `path:"dataset" maxLength:"64" doc:"Id of the dataset in Clowder"`
	File    string `path:"file" maxLength:"64" doc:"Id of the file in Clowder"`
	Version int    `query:"version" minimum:"0" doc:"Number of a version; without it the newest"`
}

type readOutput struct {
	ETag string `header:"ETag" doc:"Identifies the newest version, for If-Match of a save"`
	Body struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Text     string `json:"text"`
		Newest   Saved  `json:"newest"`
		ReadOnly string `json:"read_only,omitempty" doc:"Why this login cannot save a new version"`
		Do       string `json:"do,omitempty" doc:"What to do about it"`
	}
}

type saveInput struct {
	Dataset string `path:"dataset" maxLength:"64" doc:"Id of the dataset in Clowder"`
	File    string `path:"file" maxLength:"64" doc:"Id of the file in Clowder"`
	IfMatch string `header:"If-Match" maxLength:"200" doc:"ETag of the version that the text came from"`
	Body    struct {
		Text string `json:"text"`
	}
}

type saveOutput struct {
	ETag string `header:"ETag"`
	Body Outcome
}

type createInput struct {
	Dataset string `path:"dataset" maxLength:"64" doc:"Id of the dataset in Clowder"`
	Body    struct {
		Name string `json:"name" example:"finetune.yaml"`
		Text string `json:"text"`
	}
}

type createOutput struct {
	Location string `header:"Location"`
	Body     Listed
}

type versionsOutput struct {
	Body struct {
		Versions []Saved `json:"versions" doc:"Newest first, at most 100"`
	}
}

type checkInput struct {
	Dataset string `path:"dataset" maxLength:"64" doc:"Id of the dataset in Clowder"`
	Body    struct {
		Name string `json:"name" maxLength:"1000" example:"finetune.yaml" doc:"The name decides how the text is checked"`
		Text string `json:"text"`
		// Settings says that the text is what a training is to use.
		Settings bool `json:"settings,omitempty" doc:"Check the text as the settings of a training, whatever its name"`
	}
}

type checkOutput struct{ Body check.Report }

type optionsOutput struct {
	CacheControl string `header:"Cache-Control"`
	Body         []options.Option
}

// Operations adds the operations of the API.
func (s *Section) Operations(api huma.API) {
	const files = "/api/v1/datasets/{dataset}/files"
	register(api, http.MethodGet, files, "list-files", "List the text files of a dataset", s.apiList)
	register(api, http.MethodPost, files, "create-file", "Add a text file to a dataset", s.apiCreate)
	register(api, http.MethodGet, files+"/{file}", "read-file", "Read a text file", s.apiRead)
	register(api, http.MethodPut, files+"/{file}", "save-file", "Save a new version of a text file, if it has no newer one", s.apiSave)
	register(api, http.MethodGet, files+"/{file}/versions", "list-versions", "List the versions of a text file", s.apiVersions)
	register(api, http.MethodPost, "/api/v1/datasets/{dataset}/check", "check-text", "Check a settings file or the syntax of another text", s.apiCheck)
	register(api, http.MethodGet, "/api/v1/options", "list-options", "List the options of a training", s.apiOptions)
}

func register[I, O any](api huma.API, method, path, id, summary string, handle func(context.Context, *I) (*O, error)) {
	op := huma.Operation{OperationID: id, Method: method, Path: path, Summary: summary, Tags: []string{"Files"}, MaxBodyBytes: maxBody, SkipValidateParams: false}
	if id == "create-file" {
		op.DefaultStatus = http.StatusCreated
	}
	if id == "save-file" {
		op.Errors = []int{http.StatusForbidden, http.StatusNotFound, http.StatusPreconditionFailed, http.StatusPreconditionRequired}
	}
	huma.Register(api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err == nil {
			return out, nil
		}
		if old, ok := asStale(err); ok {
			return nil, old
		}
		return nil, web.AsProblem(err)
	})
}

func (s *Section) apiList(ctx context.Context, in *datasetInput) (*listOutput, error) {
	var out listOutput
	var err error
	out.Body.Files, out.Body.Others, _, err = s.list(ctx, in.Dataset)
	return &out, err
}

func (s *Section) apiRead(ctx context.Context, in *readInput) (*readOutput, error) {
	d, err := s.open(ctx, in.Dataset, in.File)
	if err != nil {
		return nil, err
	}
	out := readOutput{ETag: `"` + d.Tag + `"`}
	out.Body.ID, out.Body.Name, out.Body.Text, out.Body.Newest = d.File.ID, d.File.Name, d.Text, savedOf(d.File)
	out.Body.ReadOnly, out.Body.Do = d.ReadOnly, d.Do
	if in.Version > 0 {
		if out.Body.Text, err = s.version(ctx, d.File, in.Version); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

func (s *Section) apiSave(ctx context.Context, in *saveInput) (*saveOutput, error) {
	done, err := s.save(ctx, in.Dataset, in.File, strings.Trim(strings.TrimPrefix(strings.TrimSpace(in.IfMatch), "W/"), `"`), in.Body.Text)
	if err != nil {
		return nil, err
	}
	return &saveOutput{ETag: `"` + done.Tag + `"`, Body: done}, nil
}

func (s *Section) apiCreate(ctx context.Context, in *createInput) (*createOutput, error) {
	made, err := s.create(ctx, in.Dataset, in.Body.Name, in.Body.Text)
	if err != nil {
		return nil, err
	}
	return &createOutput{
		Location: s.site.Link("api", "v1", "datasets", in.Dataset, "files", made.ID),
		Body:     Listed{ID: made.ID, Path: made.Path, Version: made.Version, Bytes: made.Size, By: made.Creator},
	}, nil
}

func (s *Section) apiVersions(ctx context.Context, in *fileInput) (*versionsOutput, error) {
	state, _, err := s.state(ctx, in.Dataset, in.File, clowder.RoleViewer)
	if err != nil {
		return nil, err
	}
	var out versionsOutput
	out.Body.Versions, err = s.history(ctx, state)
	return &out, err
}

func (s *Section) apiCheck(ctx context.Context, in *checkInput) (*checkOutput, error) {
	if _, err := s.allowed(ctx, in.Dataset, clowder.RoleViewer); err != nil {
		return nil, err
	}
	if in.Body.Settings {
		return &checkOutput{Body: s.checker.Settings(ctx, in.Body.Name, in.Body.Text)}, nil
	}
	return &checkOutput{Body: s.checker.Check(ctx, in.Body.Name, in.Body.Text)}, nil
}

func (s *Section) apiOptions(context.Context, *struct{}) (*optionsOutput, error) {
	return &optionsOutput{CacheControl: "private, max-age=3600", Body: options.Of("train").All()}, nil
}
