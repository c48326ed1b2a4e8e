package edit

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

const (
	alice = "alice@example.org" // owner
	bob   = "bob@example.org"   // editor
	carol = "carol@example.org" // viewer
	dave  = "dave@example.org"  // no role
	erin  = "erin@example.org"  // uploader
)

// house is the room on a double of Clowder, with a dataset of alice and a settings file in it.
type house struct {
	t       *testing.T
	clowder *clowdertest.Server
	client  *clowder.Client
	room    *Room
	server  *httptest.Server
	dataset string
	file    string
	trained []string
}

type noAssets struct{ http.Handler }

func (noAssets) Names(string) (script, style string) { return "", "" }

// asked takes roles from Clowder each time.
type asked struct{}

func (asked) Role(ctx context.Context, v *web.Visitor, dataset string) (clowder.Role, error) {
	return v.Clowder.Role(ctx, dataset)
}

func (h *house) Train(_ context.Context, dataset, settings, _ string) (string, error) {
	h.trained = append(h.trained, dataset+" "+settings)
	return "ft-1", nil
}

func (h *house) LastSettings(context.Context, string) (map[string]any, error) {
	return map[string]any{"epochs": 5.0, "learning_rate": 3e-4, "seed": 7.0, "task": "text-classification", "config_file": "x", "training.class_weights": "none"}, nil
}

func newHouse(t *testing.T) *house {
	t.Helper()
	server, err := clowdertest.New(clowdertest.Options{Dir: t.TempDir(), Users: []string{alice, bob, carol, dave, erin}})
	require.NoError(t, err)
	client, err := clowder.NewClient(clowder.Config{URL: server.URL, Backoff: time.Millisecond, Cache: disk.Folder{Volume: t.TempDir(), Name: "cache"}})
	require.NoError(t, err)
	address, err := url.Parse("http://studio.example.org/ray")
	require.NoError(t, err)
	h := &house{t: t, clowder: server, client: client, dataset: server.AddDataset(alice, "Reviews")}
	server.Share(h.dataset, bob, "editor")
	server.Share(h.dataset, carol, "viewer")
	server.Share(h.dataset, erin, "uploader")
	h.file = h.add("finetune.yaml", "epochs: 5\ntraining:\n  seed: 7\n  weight_decay: 0.1\n")
	site := web.NewSite(address, server.URL, noAssets{http.NotFoundHandler()}, zap.NewNop())
	h.room = New(site, Parts{Rights: asked{}, Trainings: h})
	mux := http.NewServeMux()
	h.room.Routes(mux)
	huma.NewError = web.NewHumaError
	h.room.Operations(humago.New(mux, huma.DefaultConfig("test", "1")))
	h.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mux.ServeHTTP(w, r.WithContext(web.WithVisitor(r.Context(), h.visitor(r.Header.Get("As"), r.Header.Get("By-Key") != ""))))
	}))
	h.server.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	t.Cleanup(func() {
		h.room.Close()
		h.server.Close()
		require.NoError(t, client.Close())
		require.NoError(t, server.Close())
	})
	return h
}

func (h *house) visitor(email string, byKey bool) *web.Visitor {
	name, _, _ := strings.Cut(email, "@")
	v := &web.Visitor{Email: email, Name: name, Session: email, CanSave: !byKey, Clowder: h.client.Bearer(job.Secret(h.clowder.Token(email)))}
	if byKey {
		v.Clowder = h.client.As(job.Secret(h.clowder.Key(email)))
	}
	return v
}

func (h *house) add(name, content string) string {
	id, err := h.clowder.AddFile(h.dataset, name, strings.NewReader(content))
	require.NoError(h.t, err)
	return id
}

// answer is what came back. Its JSON is decoded where it is JSON.
type answer struct {
	status int
	body   string
	header http.Header
	json   map[string]any
}

func (h *house) do(email, method, path, body string, header ...string) answer {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.server.URL+path, strings.NewReader(body))
	require.NoError(h.t, err)
	req.Header.Set("As", email)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	got, err := h.server.Client().Do(req)
	require.NoError(h.t, err)
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	require.NoError(h.t, err)
	a := answer{status: got.StatusCode, body: string(text), header: got.Header}
	if strings.Contains(got.Header.Get("Content-Type"), "json") {
		_ = json.Unmarshal(text, &a.json)
	}
	return a
}

func (h *house) api(parts ...string) string {
	return "/api/v1/datasets/" + h.dataset + "/" + strings.Join(parts, "/")
}

func (h *house) page(parts ...string) string {
	return "/datasets/" + h.dataset + "/" + strings.Join(parts, "/")
}

// tag reads the ETag of the settings file.
func (h *house) tag() string {
	h.t.Helper()
	return h.do(alice, http.MethodGet, h.api("files", h.file), "").header.Get("ETag")
}

func (h *house) save(email, tag, text string) answer {
	h.t.Helper()
	body, err := json.Marshal(map[string]string{"text": text})
	require.NoError(h.t, err)
	return h.do(email, http.MethodPut, h.api("files", h.file), string(body), "If-Match", tag, "Content-Type", "application/json")
}

// post sends the form of a page.
func (h *house) post(email, path string, fields ...string) answer {
	h.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return h.do(email, http.MethodPost, path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// text reads the newest text of a file in Clowder.
func (h *house) text(file string) string {
	h.t.Helper()
	body, err := h.clowder.ReadFile(file)
	require.NoError(h.t, err)
	return string(body)
}

// direct saves through Clowder itself.
func (h *house) direct(email, text string) error {
	s := h.client.Bearer(job.Secret(h.clowder.Token(email)))
	state, err := s.FileState(context.Background(), h.file)
	if err != nil {
		return err
	}
	if _, err = s.Update(context.Background(), state, []byte(text)); err != nil {
		return fmt.Errorf("save through Clowder: %w", err)
	}
	return nil
}
