package boards

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/sidecar"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

const (
	// maxQuestion is the largest request of TensorBoard's page in bytes: names of runs and curves.
	maxQuestion = 1 << 20
	// maxAnswer is the largest answer, maxError the largest refusal that is read.
	maxAnswer = 64 << 20
	maxError  = 4 << 10
)

// policy is for TensorBoard's page, whose scripts build functions from texts. The page stays in a box: it may load from and ask below its own
// address only, it opens no windows and sends no forms. So it cannot act in the studio, although it has the same origin.
func (s *Section) policy(runs string) string {
	own := s.site.Absolute("tensorboard", runs) + "/"
	return "sandbox allow-scripts allow-same-origin allow-downloads; default-src 'none'; script-src " + own + " 'unsafe-eval'; style-src " + own +
		" 'unsafe-inline'; img-src " + own + " data: blob:; font-src " + own + " data:; connect-src " + own +
		"; worker-src 'none'; frame-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
}

// answer passes one request on. Requests for data are answered from what the event files say now.
func (s *Section) answer(w http.ResponseWriter, req *http.Request, records []job.Record) error {
	path := req.PathValue("path")
	if strings.Contains(path, "..") {
		return web.NotFound
	}
	question, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxQuestion))
	if err != nil {
		return err
	}
	where, err := s.Process.At(req.Context(), "")
	if err != nil {
		return err
	}
	b := s.boards.board(records)
	if req.Method == http.MethodPost {
		path = "data/plugin/" + path
	}
	reply, err := s.ask(req, where, b, path, question)
	if err != nil && sidecar.IsGone(err) && req.Context().Err() == nil {
		if where, err = s.Process.At(req.Context(), where.URL); err != nil {
			return err
		}
		reply, err = s.ask(req, where, b, path, question)
	}
	if err != nil {
		return err
	}
	defer func() { _ = reply.Body.Close() }()
	if reply.StatusCode == http.StatusUnauthorized {
		return fmt.Errorf("the process of TensorBoard answered with HTTP status %d", reply.StatusCode)
	}
	h := w.Header()
	for _, name := range []string{"Content-Type", "Content-Encoding", "Content-Length"} {
		if value := reply.Header.Get(name); value != "" {
			h.Set(name, value)
		}
	}
	if to := reply.Header.Get("Location"); strings.HasPrefix(to, "../") { // within its own pages
		h.Set("Location", to)
	}
	h.Set("Content-Security-Policy", s.policy(req.PathValue("runs")))
	w.WriteHeader(reply.StatusCode)
	_, _ = io.Copy(w, io.LimitReader(reply.Body, maxAnswer)) // the reader has gone
	return nil
}

// ask sends the curves where they are needed, and then the question.
func (s *Section) ask(req *http.Request, where sidecar.Endpoint, b *board, path string, question []byte) (*http.Response, error) {
	if strings.HasPrefix(path, "data/") {
		if err := s.load(req.Context(), where, b, false); err != nil {
			return nil, err
		}
	}
	reply, err := s.send(req.Context(), where, req.Method, "/experiment/"+b.name+"/"+path, req.URL.RawQuery, req.Header.Get("Content-Type"), question)
	if err != nil || reply.StatusCode != http.StatusNotFound || !strings.HasPrefix(path, "data/") {
		return reply, err
	}
	_ = reply.Body.Close() // it has forgotten the board, or there is no such curve
	if err := s.load(req.Context(), where, b, true); err != nil {
		return nil, err
	}
	return s.send(req.Context(), where, req.Method, "/experiment/"+b.name+"/"+path, req.URL.RawQuery, req.Header.Get("Content-Type"), question)
}

// load sends the curves of a board to the process, if it does not have what the event files say now. forgotten says that it has nothing.
func (s *Section) load(ctx context.Context, where sidecar.Endpoint, b *board, forgotten bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !forgotten && b.at == where.URL && !b.old() {
		return nil
	}
	if v := web.VisitorOf(ctx); v != nil {
		if err := s.quota.Take(v.Email+v.Session, time.Now()); err != nil {
			return err
		}
	}
	doc, err := json.Marshal(b.read())
	if err != nil {
		return fmt.Errorf("encode the curves of a run: %w", err)
	}
	reply, err := s.send(ctx, where, http.MethodPut, "/boards/"+b.name, "", "application/json", doc)
	if err != nil {
		return err
	}
	defer func() { _ = reply.Body.Close() }()
	if reply.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(reply.Body, maxError))
		return fmt.Errorf("the process of TensorBoard answered with HTTP status %d: %s", reply.StatusCode, said)
	}
	b.at = where.URL
	return nil
}

// send makes one request to the process. Nothing of the visitor's request but these parts is passed on.
func (s *Section) send(ctx context.Context, where sidecar.Endpoint, method, path, query, kind string, body []byte) (*http.Response, error) {
	address := where.URL + (&url.URL{Path: path, RawQuery: query}).RequestURI()
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask TensorBoard: %w", err)
	}
	if where.Token != "" {
		req.Header.Set("Authorization", "Bearer "+where.Token.Reveal())
	}
	if len(body) > 0 && kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	req.Header.Set("Accept-Encoding", "gzip") // its scripts are packed
	return s.client.Do(req)                   //nolint:gosec // an address of ours: the visitor names a path below one board
}
