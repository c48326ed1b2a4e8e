package boards

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/sidecar"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type noAssets struct{ http.Handler }

func (noAssets) Names(string) (script, style string) { return "", "" }

// fixture is a studio with this section only. Its process keeps what it is sent, and answers with the path that it was asked for.
type fixture struct {
	t       *testing.T
	volume  string
	process *httptest.Server
	handler http.Handler

	mu     sync.Mutex
	boards map[string]map[string]map[string][][3]float64
	asked  []*http.Request
	puts   int
}

// See lets everybody but dave see the runs.
func (f *fixture) See(ctx context.Context, run string) (job.Record, error) {
	if web.VisitorOf(ctx).Name == "dave" || !strings.HasPrefix(run, "ft-") {
		return job.Record{}, web.NotFound
	}
	return job.Record{Run: run, State: job.Running}, nil
}

func newFixture(t *testing.T, process sidecar.Process) *fixture {
	t.Helper()
	f := &fixture{t: t, volume: t.TempDir(), boards: map[string]map[string]map[string][][3]float64{}}
	f.process = httptest.NewServer(http.HandlerFunc(f.answer))
	t.Cleanup(f.process.Close)
	if process == nil {
		token := filepath.Join(t.TempDir(), "token")
		require.NoError(t, os.WriteFile(token, []byte("ours"), 0o600))
		process = sidecar.NewRemote(f.process.URL, "TENSORBOARD_TOKEN_FILE", token)
	}
	address, err := url.Parse("https://studio.example.org/ray")
	require.NoError(t, err)
	site := web.NewSite(address, "https://clowder.example.org", noAssets{http.NotFoundHandler()}, zap.NewNop())
	section := New(site, Parts{Access: f, Process: process, Folder: func(run string) disk.Folder { return disk.Folder{Volume: f.volume, Name: "runs/" + run} }})
	t.Cleanup(func() { require.NoError(t, section.Close()) })
	mux := http.NewServeMux()
	section.Routes(mux)
	f.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Header.Get("X-Test")
		mux.ServeHTTP(w, r.WithContext(web.WithVisitor(r.Context(), &web.Visitor{Name: name, Email: name + "@example.org", Session: name})))
	})
	return f
}

func (f *fixture) answer(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, r)
	if r.Header.Get("Authorization") != "Bearer ours" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if name, ok := strings.CutPrefix(r.URL.Path, "/boards/"); ok {
		var board map[string]map[string][][3]float64
		if json.NewDecoder(r.Body).Decode(&board) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		f.boards[name], f.puts = board, f.puts+1
		return
	}
	name, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/experiment/"), "/")
	if strings.HasPrefix(path, "data/") && f.boards[name] == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Security-Policy", "script-src *")
	w.Header().Set("Set-Cookie", "a=b")
	body, _ := io.ReadAll(r.Body)
	_, _ = fmt.Fprintf(w, "%s %s?%s %s", r.Method, path, r.URL.RawQuery, body)
}

// forget empties the process.
func (f *fixture) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.boards)
}

func (f *fixture) do(person, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("X-Test", person)
	r.Header.Set("Cookie", "session=secret")
	r.Header.Set("X-API-KEY", "secret")
	w := httptest.NewRecorder()
	f.handler.ServeHTTP(w, r)
	return w
}

// wrote puts an event file of one curve into the folder of a run.
func (f *fixture) wrote(file, tag string, values ...float32) {
	f.t.Helper()
	var doc bytes.Buffer
	sum := func(b []byte) []byte {
		c := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
		return binary.LittleEndian.AppendUint32(nil, (c>>15|c<<17)+0xa282ead8)
	}
	for step, value := range values {
		var v, e []byte
		v = protowire.AppendString(protowire.AppendTag(v, 1, protowire.BytesType), tag)
		v = protowire.AppendFixed32(protowire.AppendTag(v, 2, protowire.Fixed32Type), math.Float32bits(value))
		summary := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), v)
		e = protowire.AppendFixed64(protowire.AppendTag(e, 1, protowire.Fixed64Type), math.Float64bits(1000+float64(step)))
		e = protowire.AppendVarint(protowire.AppendTag(e, 2, protowire.VarintType), uint64(step))
		e = protowire.AppendBytes(protowire.AppendTag(e, 5, protowire.BytesType), summary)
		head := binary.LittleEndian.AppendUint64(nil, uint64(len(e)))
		for _, part := range [][]byte{head, sum(head), e, sum(e)} {
			doc.Write(part)
		}
	}
	at := filepath.Join(f.volume, "runs", filepath.FromSlash(file))
	require.NoError(f.t, os.MkdirAll(filepath.Dir(at), 0o700))
	require.NoError(f.t, os.WriteFile(at, doc.Bytes(), 0o600))
}

func TestTheCurvesOfARunAreShownByTensorBoard(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.wrote("ft-1/tensorboard/events.out.tfevents.1", "train/loss", 2, 1)
	f.wrote("ft-2/out/runs/a/events.out.tfevents.1", "<b>", 5)
	found := f.do("carol", "GET", "/tensorboard/ft-1,ft-2/data/runs?x=1", "")
	require.Equal(t, http.StatusOK, found.Code, found.Body)
	require.Equal(t, "GET data/runs?x=1 ", found.Body.String())
	require.Len(t, f.boards, 1)
	for _, board := range f.boards {
		require.Equal(t, map[string]map[string][][3]float64{
			"ft-1": {"train/loss": {{0, 1000, 2}, {1, 1001, 1}}}, "ft-2": {}, "ft-2/runs/a": {"<b>": {{0, 1000, 5}}},
		}, board)
	}
	page := f.do("carol", "GET", "/tensorboard/ft-1,ft-2/", "")
	require.Contains(t, page.Header().Get("Content-Security-Policy"), "connect-src https://studio.example.org/ray/tensorboard/ft-1%2Cft-2/;")
	require.Contains(t, page.Header().Get("Content-Security-Policy"), "sandbox allow-scripts")
	require.Empty(t, page.Header().Get("Set-Cookie"))
	asked := f.do("carol", "POST", "/tensorboard/ft-1,ft-2/data/plugin/scalars/scalars_multirun", "tag=loss")
	require.Equal(t, "POST data/plugin/scalars/scalars_multirun? tag=loss", asked.Body.String())
	require.Equal(t, 1, f.puts, "the curves are sent once in a while only")
	for _, r := range f.asked {
		require.Empty(t, r.Header.Get("Cookie"))
		require.Empty(t, r.Header.Get("X-API-KEY"))
	}
}

func TestAProcessThatForgotTheBoardGetsItAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.wrote("ft-1/tensorboard/events.out.tfevents.1", "loss", 2)
	require.Equal(t, http.StatusOK, f.do("carol", "GET", "/tensorboard/ft-1/data/runs", "").Code)
	f.forget()
	require.Equal(t, http.StatusOK, f.do("carol", "GET", "/tensorboard/ft-1/data/runs", "").Code)
	require.Equal(t, 2, f.puts)
}

func TestNobodySeesTheRunsOfOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for person, paths := range map[string][]string{
		"dave":  {"/tensorboard/ft-1/", "/tensorboard/ft-1/data/runs"},
		"carol": {"/tensorboard/zz-1/", "/tensorboard/ft-1,zz-1/data/runs", "/tensorboard/ft-1,/data/runs", "/tensorboard/" + strings.Repeat("ft-1,", 10) + "ft-1/"},
	} {
		for _, path := range paths {
			require.Equal(t, http.StatusNotFound, f.do(person, "GET", path, "").Code, path)
		}
	}
	require.Equal(t, http.StatusMethodNotAllowed, f.do("carol", "POST", "/tensorboard/ft-1/", "").Code)
	require.Empty(t, f.asked)
	moved := f.do("carol", "GET", "/tensorboard/ft-1", "")
	require.Equal(t, "/ray/tensorboard/ft-1/", moved.Header().Get("Location"))
}

func TestFilesBehindLinksAreNotRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.wrote("ft-2/tensorboard/events.out.tfevents.1", "loss", 2)
	theirs, run := filepath.Join(f.volume, "runs", "ft-2", "tensorboard"), filepath.Join(f.volume, "runs", "ft-1")
	require.NoError(t, os.MkdirAll(filepath.Join(run, "out"), 0o700))
	require.NoError(t, os.Symlink(theirs, filepath.Join(run, "tensorboard")))
	require.NoError(t, os.Symlink(filepath.Join(theirs, "events.out.tfevents.1"), filepath.Join(run, "out", "events.out.tfevents.1")))
	require.Equal(t, http.StatusOK, f.do("carol", "GET", "/tensorboard/ft-1/data/runs", "").Code)
	for _, board := range f.boards {
		require.Equal(t, map[string]map[string][][3]float64{"ft-1": {}}, board)
	}
}

func TestWithoutAProcessThePageSaysSo(t *testing.T) {
	t.Parallel()
	f := newFixture(t, sidecar.None{})
	page := f.do("carol", "GET", "/tensorboard/ft-1/", "")
	require.Equal(t, http.StatusServiceUnavailable, page.Code)
	require.Contains(t, page.Body.String(), "TensorBoard is not set up here")
	gone := newFixture(t, nil)
	gone.process.Close()
	page = gone.do("carol", "GET", "/tensorboard/ft-1/", "")
	require.Equal(t, http.StatusServiceUnavailable, page.Code)
	require.Contains(t, page.Body.String(), "TensorBoard did not answer")
	require.NotContains(t, page.Body.String(), gone.process.URL)
}
