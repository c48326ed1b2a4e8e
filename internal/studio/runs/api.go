package runs

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// The answers of the API.
type (
	answer[T any] struct{ Body T }

	// Me is the visitor.
	Me struct {
		Email string `json:"email"`
		Name  string `json:"name"`
		// CanSave says that Clowder takes new versions of files from this login.
		CanSave bool `json:"can_save" doc:"Whether this login may save new versions of files: a login with Keycloak may, an API key may not"`
	}

	// DatasetView is a dataset as the visitor sees it.
	DatasetView struct {
		Dataset
		Role       string   `json:"role" enum:"owner,editor,uploader,viewer"`
		Creator    string   `json:"creator,omitempty"`
		Extractors []string `json:"extractors" doc:"Names for POST /datasets/{dataset}/runs"`
		Runs       List     `json:"newest" doc:"The newest runs of the dataset"`
	}

	// Done says what became of an action.
	Done struct {
		Run  string `json:"run"`
		Text string `json:"text"`
	}

	// listed is a page of runs with the address of the next one.
	listed struct {
		Link string `header:"Link"`
		Body List
	}

	sentAnswer struct {
		Location string `header:"Location"`
		Body     Sent
	}
)

// newestShown is how many runs the description of a dataset has.
const newestShown = 10

// RunPath names a run in the address of an operation.
type RunPath struct {
	Run string `path:"run" doc:"Id of the run" maxLength:"100" example:"ft-abcdefgh234567abcdef"`
}

type datasetInput struct {
	Dataset string `path:"dataset" maxLength:"100" doc:"Id of the dataset"`
}

type compareInput struct {
	Runs []string `query:"run,explode" required:"true" minItems:"1" maxItems:"20" doc:"Id of a run; give it two to ten times"`
}

type fileInput struct {
	RunPath
	Path string `path:"path" maxLength:"1024" doc:"Path of the file, with slashes"`
}

type actionInput struct {
	RunPath
	Key string `header:"Idempotency-Key" maxLength:"200" doc:"Two requests with the same key are one"`
}

type listInput struct {
	Dataset string `query:"dataset" doc:"Id of a dataset; without one, the list has your own runs of all datasets"`
	State   string `query:"state" enum:"waiting,running,done,failed,cancelled"`
	Kind    string `query:"kind" enum:"train,predict,script"`
	Model   string `query:"model" doc:"Name of a model, or name/version"`
	User    string `query:"user" doc:"E-mail address of the person who started it, or me"`
	Text    string `query:"q" maxLength:"200" doc:"Words in the name, the id or the end of the run"`
	Limit   int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor  string `query:"cursor" maxLength:"300" doc:"Where the page begins: next of the page before"`
}

type startInput struct {
	Dataset string `path:"dataset" maxLength:"100" doc:"Id of the dataset"`
	Key     string `header:"Idempotency-Key" maxLength:"200" doc:"Two requests with the same key are one"`
	Body    struct {
		Extractor  string         `json:"extractor" doc:"Name of the extractor" example:"ncsa.ray.finetune"`
		Parameters map[string]any `json:"parameters,omitempty" doc:"Fields of the extractor's form; what is left out has its default"`
	}
}

// Operations adds the operations of the API.
func (s *Section) Operations(api huma.API) {
	huma.Register(api, huma.Operation{OperationID: "me", Method: http.MethodGet, Path: "/api/v1/me", Summary: "Who you are", Tags: []string{"You"}}, s.apiMe)
	huma.Register(api, huma.Operation{OperationID: "dataset", Method: http.MethodGet, Path: "/api/v1/datasets/{dataset}", Summary: "A dataset, your role, and its newest runs", Tags: []string{"Datasets"}}, s.apiDataset)
	huma.Register(api, huma.Operation{OperationID: "runs", Method: http.MethodGet, Path: "/api/v1/runs", Summary: "Runs, newest first", Tags: []string{"Runs"}}, s.apiList)
	huma.Register(api, huma.Operation{OperationID: "run", Method: http.MethodGet, Path: "/api/v1/runs/{run}", Summary: "One run", Tags: []string{"Runs"}}, s.apiRun)
	huma.Register(api, huma.Operation{
		OperationID: "start", Method: http.MethodPost, Path: "/api/v1/datasets/{dataset}/runs", Summary: "Start a run", Tags: []string{"Runs"}, DefaultStatus: http.StatusAccepted,
		Description: "Submits the dataset through Clowder with your credential. The answer has the id of the run before the run exists: GET /runs/{run} answers 404 until the message has arrived, most often within a second.",
	}, s.apiStart)
	for action, summary := range map[string]string{
		ActionCancel: "Cancel a run", ActionStop: "Stop a training and keep its best model, or a script and keep what it has saved", ActionRetry: "Retry a failed or cancelled run",
	} {
		huma.Register(api, huma.Operation{OperationID: action, Method: http.MethodPost, Path: "/api/v1/runs/{run}/" + action, Summary: summary, Tags: []string{"Runs"}}, s.apiAct(action))
	}
	huma.Register(api, huma.Operation{OperationID: "compare", Method: http.MethodGet, Path: "/api/v1/compare", Summary: "Two to ten runs side by side", Tags: []string{"Runs"}}, s.apiCompare)
	huma.Register(api, huma.Operation{OperationID: "files-of-run", Method: http.MethodGet, Path: "/api/v1/runs/{run}/files", Summary: "Files of a run", Tags: []string{"Runs"}}, s.apiFiles)
	huma.Register(api, huma.Operation{
		OperationID: "file-of-run", Method: http.MethodGet, Path: "/api/v1/runs/{run}/files/{path...}", Summary: "One file of a run, as an attachment", Tags: []string{"Runs"},
		Responses: map[string]*huma.Response{"200": {Description: "The bytes of the file", Content: map[string]*huma.MediaType{"application/octet-stream": {}}}},
	}, s.apiFile)
	// A path of several parts is known to the router of Go only.
	paths := api.OpenAPI().Paths
	paths["/api/v1/runs/{run}/files/{path}"] = paths["/api/v1/runs/{run}/files/{path...}"]
	delete(paths, "/api/v1/runs/{run}/files/{path...}")
}

func (s *Section) apiMe(ctx context.Context, _ *struct{}) (*answer[Me], error) {
	v := web.VisitorOf(ctx)
	return &answer[Me]{Me{v.Email, v.Name, v.CanSave}}, nil
}

func (s *Section) apiDataset(ctx context.Context, in *datasetInput) (*answer[DatasetView], error) {
	list, err := s.list(ctx, Filter{Dataset: in.Dataset, Limit: newestShown})
	if err != nil {
		return nil, web.AsProblem(err)
	}
	name := ""
	if len(list.Runs) > 0 {
		name = list.Runs[0].Dataset.Name
	}
	ds, creator := s.dataset(ctx, in.Dataset, name)
	out := DatasetView{Dataset: ds, Role: string(list.Role), Creator: creator, Runs: list}
	for _, e := range s.forms.startable() {
		out.Extractors = append(out.Extractors, e.Name)
	}
	return &answer[DatasetView]{out}, nil
}

func (s *Section) apiList(ctx context.Context, in *listInput) (*listed, error) {
	list, err := s.list(ctx, Filter{Dataset: in.Dataset, State: in.State, Kind: in.Kind, Model: in.Model, By: in.User, Text: in.Text, Limit: in.Limit, Cursor: in.Cursor})
	if err != nil {
		return nil, web.AsProblem(err)
	}
	out := &listed{Body: list}
	if list.Next != "" {
		out.Link = s.nextLink(in, list.Next)
	}
	return out, nil
}

func (s *Section) apiRun(ctx context.Context, in *RunPath) (*answer[View], error) {
	rec, _, err := s.find(ctx, in.Run)
	if err != nil {
		return nil, web.AsProblem(err)
	}
	return &answer[View]{s.view(rec)}, nil
}

func (s *Section) apiStart(ctx context.Context, in *startInput) (*sentAnswer, error) {
	sent, err := s.submit(ctx, in.Dataset, in.Body.Extractor, in.Body.Parameters, in.Key, s.checks)
	if err != nil {
		return nil, web.AsProblem(err)
	}
	return &sentAnswer{Location: s.site.Link("api", "v1", "runs", sent.Run), Body: sent}, nil
}

func (s *Section) apiAct(action string) func(context.Context, *actionInput) (*answer[Done], error) {
	return func(ctx context.Context, in *actionInput) (*answer[Done], error) {
		said, err := s.act(ctx, in.Run, action, in.Key)
		if err != nil {
			return nil, web.AsProblem(err)
		}
		return &answer[Done]{Done{in.Run, said}}, nil
	}
}

func (s *Section) apiCompare(ctx context.Context, in *compareInput) (*answer[Comparison], error) {
	c, err := s.compare(ctx, in.Runs)
	if err != nil {
		return nil, web.AsProblem(err)
	}
	return &answer[Comparison]{c}, nil
}

func (s *Section) apiFiles(ctx context.Context, in *RunPath) (*answer[[]File], error) {
	rec, _, err := s.find(ctx, in.Run)
	if err != nil {
		return nil, web.AsProblem(err)
	}
	return &answer[[]File]{s.filesOf(rec)}, nil
}

func (s *Section) apiFile(ctx context.Context, in *fileInput) (*huma.StreamResponse, error) {
	rec, _, err := s.find(ctx, in.Run)
	if err != nil {
		return nil, web.AsProblem(err)
	}
	return &huma.StreamResponse{Body: func(c huma.Context) {
		req, w := humago.Unwrap(c)
		if err := s.send(w, req, rec, in.Path); err != nil {
			web.WriteProblem(w, web.AsProblem(err))
		}
	}}, nil
}

// nextLink is the header that leads to the next page.
func (s *Section) nextLink(in *listInput, cursor string) string {
	q := url.Values{"cursor": {cursor}}
	for name, value := range map[string]string{"dataset": in.Dataset, "state": in.State, "kind": in.Kind, "model": in.Model, "user": in.User, "q": in.Text, "limit": strconv.Itoa(in.Limit)} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return "<" + s.site.Absolute("api", "v1", "runs") + "?" + q.Encode() + `>; rel="next"`
}
