package models

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/answer"
	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// ds is the dataset of the tests, in a Clowder.
const (
	ds          = "655fd7c3e4b0a1b2c3d4e5f6"
	clowderHost = "https://clowder.example.org"
)

type noAssets struct{ http.Handler }

func (noAssets) Names(string) (script, style string) { return "", "" }

// fixture is a studio with this section only, where visitors are named by a header.
type fixture struct {
	t        *testing.T
	registry *registry.Registry
	volume   string
	answers  *answers
	handler  http.Handler

	sure    float64
	results map[string]*results.Result

	mu       sync.Mutex
	promoted []string
	exported []string
}

// Role gives each person of the tests a role by its name.
func (f *fixture) Role(_ context.Context, v *web.Visitor, dataset string) (clowder.Role, error) {
	if dataset != ds {
		return clowder.NoRole, nil
	}
	return map[string]clowder.Role{"alice": clowder.RoleOwner, "bob": clowder.RoleEditor, "ursula": clowder.RoleUploader, "carol": clowder.RoleViewer}[v.Name], nil
}

func (f *fixture) Promote(_ context.Context, by *web.Visitor, v registry.Version) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.promoted = append(f.promoted, by.Name+" "+v.Ref())
	_, err := f.registry.Promote(registry.Dataset{Clowder: clowderHost, ID: ds}, v.Name, v.Version)
	return err
}

func (f *fixture) Export(_ context.Context, by *web.Visitor, v registry.Version) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.exported = append(f.exported, by.Name+" "+v.Ref())
	return nil
}

// answers is a process that always says the same.
type answers struct {
	outputs  []answer.Tensor
	woken    bool
	forward  string
	err      error
	asked    []answer.Tensor
	asks     answer.Model
	question string
}

func (a *answers) Describe(_ context.Context, m answer.Model) (answer.Description, error) {
	a.asks = m
	return answer.Description{Inputs: []answer.Tensor{{Name: "text", Datatype: "BYTES", Shape: []int{-1}}}, Parameters: answer.Parameters{Kind: "text"}}, a.err
}

func (a *answers) Infer(_ context.Context, m answer.Model, inputs []answer.Tensor) (answer.Answer, error) {
	a.asks, a.asked = m, inputs
	return answer.Answer{Outputs: a.outputs, Woken: a.woken}, a.err
}

func (a *answers) Forward(_ context.Context, m answer.Model, request []byte) ([]byte, error) {
	a.asks, a.question = m, string(request)
	return []byte(a.forward), a.err
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, volume: t.TempDir(), sure: 0.6, results: map[string]*results.Result{}, answers: &answers{outputs: []answer.Tensor{
		{Name: "label", Data: []any{"yes"}}, {Name: "probability", Data: []any{0.029, 0.971}},
	}}}
	f.registry = registry.New(disk.Folder{Volume: f.volume, Name: "registry"})
	address, err := url.Parse("https://studio.example.org/ray")
	require.NoError(t, err)
	site := web.NewSite(address, clowderHost, noAssets{http.NotFoundHandler()}, zap.NewNop())
	section := New(site, Parts{
		Registry: f.registry, Answers: f.answers, Rights: f, Commands: f, Clowder: clowderHost, AnswersPerMinute: 60,
		Starter: func(_ context.Context, run string) string {
			return map[string]string{"ft-1": "ursula@example.org"}[run]
		},
		MinConfidence: func(context.Context, string) float64 { return f.sure },
		Result:        func(run string) *results.Result { return f.results[run] },
		WriteZip: func(_ context.Context, v registry.Version, w http.ResponseWriter) error {
			_, err := w.Write([]byte("zip of " + v.Ref()))
			return err
		},
		Manifest: func(v registry.Version, as string) (string, error) { return "kind: " + as + " # " + v.Ref(), nil },
	})
	section.now = func() time.Time { return time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC) }
	mux := http.NewServeMux()
	section.Routes(mux)
	section.Operations(humago.New(mux, huma.DefaultConfig("test", "1")))
	f.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Header.Get("X-Test")
		mux.ServeHTTP(w, r.WithContext(web.WithVisitor(r.Context(), &web.Visitor{Name: name, Email: name + "@example.org", Session: name})))
	})
	return f
}

// register adds a version of a model with these files.
func (f *fixture) register(name, kind, base, run string, files map[string]string) registry.Version {
	f.t.Helper()
	from := disk.Folder{Volume: f.volume, Name: "runs/" + run + "/out/model"}
	v := registry.Version{
		Name: name, Run: run, Clowder: clowderHost, DatasetID: ds, DatasetName: "Reviews", Task: kind + "-classification", Kind: kind, Base: base,
		Labels: []string{"no", "yes"}, Metric: "accuracy", Created: time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC), WeightsSHA256: run,
	}
	low, high := 0.884, 0.946
	v.Test = &registry.Score{Value: 0.92, Low: &low, High: &high, N: 300}
	require.NoError(f.t, os.MkdirAll(from.Path(), 0o700))
	for path, body := range files {
		sum := sha256.Sum256([]byte(body))
		v.Files = append(v.Files, registry.File{Path: path, Size: int64(len(body)), SHA256: hex.EncodeToString(sum[:])})
		require.NoError(f.t, os.WriteFile(filepath.Join(from.Path(), path), []byte(body), 0o600))
	}
	v, err := f.registry.Register(f.t.Context(), v, from, func(c *registry.Version) (bool, string) { return c == nil, "it is the first version" })
	require.NoError(f.t, err)
	return v
}

// reviews registers versions of a text model without a network.
func (f *fixture) reviews(versions int) {
	for i := range versions {
		f.register("reviews", "text", "words", "ft-"+strconv.Itoa(i+1), map[string]string{"trainer.json": `{"kind":"text","columns":["review"],"types":{"review":"text"}}`})
	}
}

// do sends a request of a person.
func (f *fixture) do(person, method, path string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, http.NoBody)
	r.Header.Set("X-Test", person)
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	return w
}
