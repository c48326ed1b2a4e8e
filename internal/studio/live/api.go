package live

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

type (
	// LogEvents is a part of the event log of a run.
	LogEvents struct {
		Events []LoggedEvent `json:"events"`
		After  int64         `json:"after" doc:"Where the next request goes on"`
		More   bool          `json:"more" doc:"There is more already"`
		Over   bool          `json:"over" doc:"The run is over, and nothing follows"`
	}

	eventsInput struct {
		Run    string `path:"run" doc:"Id of the run" maxLength:"100"`
		After  int64  `query:"after" minimum:"0" doc:"Offset in the event log; the answer has the events after it"`
		Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"200"`
		Accept string `header:"Accept" doc:"text/event-stream for a stream that begins with all that is known; JSON otherwise"`
		LastID string `header:"Last-Event-ID" doc:"Sent by browsers that come back: the id of the last message"`
	}

	seriesInput struct {
		Run    string   `path:"run" doc:"Id of the run" maxLength:"100"`
		Names  []string `query:"names" doc:"Names of lines; without any, all lines"`
		Points int      `query:"points" minimum:"10" maximum:"10000" default:"1000" doc:"How many points the answer has in all, about; peaks stay"`
	}

	seriesAnswer struct{ Body Snapshot }

	logInput struct {
		Run   string `path:"run" doc:"Id of the run" maxLength:"100"`
		Range string `header:"Range" doc:"A part of the log, such as bytes=-4096"`
	}
)

// streamType is the media type of server-sent events.
const streamType = "text/event-stream"

// Operations adds the operations of the API.
func (s *Section) Operations(api huma.API) {
	registry := api.OpenAPI().Components.Schemas
	events := huma.SchemaFromType(registry, reflect.TypeFor[LogEvents]())
	huma.Register(api, huma.Operation{
		OperationID: "events", Method: http.MethodGet, Path: "/api/v1/runs/{run}/events", Summary: "What happens in a run, as a stream or from an offset on", Tags: []string{"Runs"},
		Description: "As a stream of server-sent events: first a snapshot, then event, state, said and log as they come, and end at last. " +
			"The id of an event is its offset, so a client that sends Last-Event-ID misses none and gets none twice.",
		Responses: map[string]*huma.Response{"200": {Description: "Events", Content: map[string]*huma.MediaType{"application/json": {Schema: events}, streamType: {}}}},
	}, s.apiEvents)
	huma.Register(api, huma.Operation{
		OperationID: "series", Method: http.MethodGet, Path: "/api/v1/runs/{run}/series", Summary: "The curves of a run, and how far it is", Tags: []string{"Runs"},
	}, s.apiSeries)
	huma.Register(api, huma.Operation{
		OperationID: "log", Method: http.MethodGet, Path: "/api/v1/runs/{run}/log", Summary: "What a run printed", Tags: []string{"Runs"},
		Responses: map[string]*huma.Response{"200": {Description: "The log", Content: map[string]*huma.MediaType{"text/plain": {}}}},
	}, s.apiLog)
}

func (s *Section) apiEvents(ctx context.Context, in *eventsInput) (*huma.StreamResponse, error) {
	rec, err := s.access.See(ctx, in.Run)
	if err != nil {
		return nil, web.AsProblem(err)
	}
	return answer(func(w http.ResponseWriter, req *http.Request) error {
		if strings.Contains(in.Accept, streamType) {
			return s.stream(w, req, in.Run)
		}
		events, err := s.events(in.Run, in.After, in.Limit)
		if err != nil {
			return err
		}
		events.Over = !rec.Active() && !events.More
		w.Header().Set("Content-Type", "application/json")
		return json.NewEncoder(w).Encode(events)
	}), nil
}

// events reads a part of the event log of a run.
func (s *Section) events(run string, after int64, limit int) (LogEvents, error) {
	out := LogEvents{Events: []LoggedEvent{}, After: after}
	tail := results.NewTail(s.runs.Folder(run))
	tail.Offset = after
	for {
		before := tail.Offset
		placed, err := tail.NextLogged()
		if err != nil {
			return LogEvents{}, err
		}
		for _, p := range placed {
			if len(out.Events) == limit {
				out.More = true
				return out, nil
			}
			out.Events, out.After = append(out.Events, LoggedEvent{p.End, p.Event}), p.End
		}
		if tail.Offset == before { // also of a log that began again, which is before the offset that was asked for
			out.After = tail.Offset
			return out, nil
		}
	}
}

func (s *Section) apiSeries(ctx context.Context, in *seriesInput) (*seriesAnswer, error) {
	if _, err := s.access.See(ctx, in.Run); err != nil {
		return nil, web.AsProblem(err)
	}
	limited, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	snapshot, err := s.hub.Snapshot(limited, in.Run, in.Points)
	if err != nil {
		return nil, problem(err)
	}
	snapshot.Log = nil
	if len(in.Names) > 0 {
		snapshot.Lines = slices.DeleteFunc(snapshot.Lines, func(l Curve) bool { return !slices.Contains(in.Names, l.Name) })
	}
	return &seriesAnswer{snapshot}, nil
}

func (s *Section) apiLog(ctx context.Context, in *logInput) (*huma.StreamResponse, error) {
	if _, err := s.access.See(ctx, in.Run); err != nil {
		return nil, web.AsProblem(err)
	}
	return answer(func(w http.ResponseWriter, req *http.Request) error { return s.sendLog(w, req, in.Run) }), nil
}

// sendLog sends the log as a file: it holds what a program of a user printed.
func (s *Section) sendLog(w http.ResponseWriter, req *http.Request, run string) error {
	root, err := s.runs.Folder(run).Open()
	if errors.Is(err, fs.ErrNotExist) {
		return web.NotFound
	}
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	f, info, err := disk.Open(root, results.LogFile)
	if errors.Is(err, fs.ErrNotExist) {
		return web.NotFound
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="`+run+`-log.txt"`)
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	http.ServeContent(w, req, "", time.Time{}, io.NewSectionReader(f, 0, info.Size()))
	return nil
}

// answer is an answer that a handler of net/http writes.
func answer(handler func(http.ResponseWriter, *http.Request) error) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(c huma.Context) {
		req, w := humago.Unwrap(c)
		if err := handler(w, req); err != nil {
			web.WriteProblem(w, web.AsProblem(err))
		}
	}}
}
