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

// fixture is the section on a double of Clowder, with a dataset of alice and a settings file in it.
type fixture struct {
	t       *testing.T
	clowder *clowdertest.Server
	client  *clowder.Client
	section *Section
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

func (f *fixture) Train(_ context.Context, dataset, settings, _ string) (string, error) {
	f.trained = append(f.trained, dataset+" "+settings)
	return "ft-1", nil
}

func (f *fixture) LastSettings(context.Context, string) (map[string]any, error) {
	return map[string]any{"epochs": 5.0, "learning_rate": 3e-4, "seed": 7.0, "task": "text-classification", "config_file": "x", "training.class_weights": "none"}, nil
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	server, err := clowdertest.New(clowdertest.Options{Dir: t.TempDir(), Users: []string{alice, bob, carol, dave, erin}})
	require.NoError(t, err)
	client, err := clowder.NewClient(clowder.Config{URL: server.URL, Backoff: time.Millisecond, Cache: disk.Folder{Volume: t.TempDir(), Name: "cache"}})
	require.NoError(t, err)
	address, err := url.Parse("http://studio.example.org/ray")
	require.NoError(t, err)
	f := &fixture{t: t, clowder: server, client: client, dataset: server.AddDataset(alice, "Reviews")}
	server.Share(f.dataset, bob, "editor")
	server.Share(f.dataset, carol, "viewer")
	server.Share(f.dataset, erin, "uploader")
	f.file = f.add("finetune.yaml", "epochs: 5\ntraining:\n  seed: 7\n  weight_decay: 0.1\n")
	site := web.NewSite(address, server.URL, noAssets{http.NotFoundHandler()}, zap.NewNop())
	f.section = New(site, Parts{Rights: asked{}, Trainings: f})
	mux := http.NewServeMux()
	f.section.Routes(mux)
	huma.NewError = web.NewHumaError
	f.section.Operations(humago.New(mux, huma.DefaultConfig("test", "1")))
	f.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mux.ServeHTTP(w, r.WithContext(web.WithVisitor(r.Context(), f.visitor(r.Header.Get("As"), r.Header.Get("By-Key") != ""))))
	}))
	f.server.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	t.Cleanup(func() {
		f.section.Close()
		f.server.Close()
		require.NoError(t, client.Close())
		require.NoError(t, server.Close())
	})
	return f
}

func (f *fixture) visitor(email string, byKey bool) *web.Visitor {
	name, _, _ := strings.Cut(email, "@")
	v := &web.Visitor{Email: email, Name: name, Session: email, CanSave: !byKey, Clowder: f.client.Bearer(job.Secret(f.clowder.Token(email)))}
	if byKey {
		v.Clowder = f.client.As(job.Secret(f.clowder.Key(email)))
	}
	return v
}

func (f *fixture) add(name, content string) string {
	id, err := f.clowder.AddFile(f.dataset, name, strings.NewReader(content))
	require.NoError(f.t, err)
	return id
}

// answer is what came back. Its JSON is decoded where it is JSON.
type answer struct {
	status int
	body   string
	header http.Header
	json   map[string]any
}

func (f *fixture) do(email, method, path, body string, header ...string) answer {
	f.t.Helper()
	req, err := http.NewRequestWithContext(f.t.Context(), method, f.server.URL+path, strings.NewReader(body))
	require.NoError(f.t, err)
	req.Header.Set("As", email)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	got, err := f.server.Client().Do(req)
	require.NoError(f.t, err)
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	require.NoError(f.t, err)
	a := answer{status: got.StatusCode, body: string(text), header: got.Header}
	if strings.Contains(got.Header.Get("Content-Type"), "json") {
		_ = json.Unmarshal(text, &a.json)
	}
	return a
}

func (f *fixture) api(parts ...string) string {
	return "/api/v1/datasets/" + f.dataset + "/" + strings.Join(parts, "/")
}

func (f *fixture) page(parts ...string) string {
	return "/datasets/" + f.dataset + "/" + strings.Join(parts, "/")
}

// tag reads the ETag of the settings file.
func (f *fixture) tag() string {
	f.t.Helper()
	return f.do(alice, http.MethodGet, f.api("files", f.file), "").header.Get("ETag")
}

func (f *fixture) save(email, tag, text string) answer {
	f.t.Helper()
	body, err := json.Marshal(map[string]string{"text": text})
	require.NoError(f.t, err)
	return f.do(email, http.MethodPut, f.api("files", f.file), string(body), "If-Match", tag, "Content-Type", "application/json")
}

// post sends the form of a page.
func (f *fixture) post(email, path string, fields ...string) answer {
	f.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return f.do(email, http.MethodPost, path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// text reads the newest text of a file in Clowder.
func (f *fixture) text(file string) string {
	f.t.Helper()
	body, err := f.clowder.ReadFile(file)
	require.NoError(f.t, err)
	return string(body)
}

// direct saves through Clowder itself.
func (f *fixture) direct(email, text string) error {
	s := f.client.Bearer(job.Secret(f.clowder.Token(email)))
	state, err := s.FileState(context.Background(), f.file)
	if err != nil {
		return err
	}
	if _, err = s.Update(context.Background(), state, []byte(text)); err != nil {
		return fmt.Errorf("save through Clowder: %w", err)
	}
	return nil
}
