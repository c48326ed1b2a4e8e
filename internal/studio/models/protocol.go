package models

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"

	"github.com/ncsa/clowder-ray/internal/answer"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// protocol adds the routes of the Open Inference Protocol v2. A model is called DATASET.NAME, with Clowder's id of the dataset. A path
// without a version is the champion.
func (s *Section) protocol(mux *http.ServeMux) {
	mux.HandleFunc("GET /v2", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{"name": "clowder-ray", "version": "1", "extensions": []string{}})
	})
	for _, what := range []string{"live", "ready"} {
		mux.HandleFunc("GET /v2/health/"+what, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, map[string]any{what: true}) })
	}
	for _, path := range []string{"/v2/models/{model}", "/v2/models/{model}/versions/{version}"} {
		mux.HandleFunc("GET "+path, s.v2(s.describe))
		mux.HandleFunc("GET "+path+"/ready", s.v2(s.ready))
		mux.HandleFunc("POST "+path+"/infer", s.v2(s.infer))
	}
}

// v2 finds the version that a request of the protocol names. Errors have the form of the protocol.
func (s *Section) v2(next func(w http.ResponseWriter, req *http.Request, model string, v registry.Version) error) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		model := req.PathValue("model")
		dataset, name, _ := strings.Cut(model, ".")
		v, _, err := s.version(req.Context(), dataset, name, cmp.Or(req.PathValue("version"), "champion"))
		if err == nil {
			err = next(w, req, model, v)
		}
		if err == nil {
			return
		}
		p := web.AsProblem(err)
		maps.Copy(w.Header(), p.GetHeaders())
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(p.Status)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": strings.TrimSpace(p.Title + ". " + p.Error())}) // the reader has gone
	}
}

func (s *Section) describe(w http.ResponseWriter, req *http.Request, model string, v registry.Version) error {
	if err := s.take(req); err != nil {
		return err
	}
	d, err := s.Answers.Describe(req.Context(), place(v))
	if err != nil {
		return problem(err)
	}
	writeJSON(w, struct {
		Name     string   `json:"name"`
		Versions []string `json:"versions"`
		Platform string   `json:"platform"`
		answer.Description
	}{model, []string{numberOf(v)}, "clowder-ray", d})
	return nil
}

func (s *Section) ready(w http.ResponseWriter, _ *http.Request, model string, v registry.Version) error {
	if why := s.reads(v).Why; why != "" {
		return &web.Problem{Type: "no-single-answers", Title: "This version does not answer single rows", Status: http.StatusConflict, Detail: why}
	}
	writeJSON(w, map[string]any{"name": model, "ready": true})
	return nil
}

// infer passes an inference on as it is, and puts the name by which the visitor knows the model into the answer.
func (s *Section) infer(w http.ResponseWriter, req *http.Request, model string, v registry.Version) error {
	if err := s.take(req); err != nil {
		return err
	}
	question, err := io.ReadAll(http.MaxBytesReader(w, req.Body, answer.MaxRequest))
	if err != nil {
		return tooLarge(err)
	}
	found, err := s.Answers.Forward(req.Context(), place(v), question)
	if err != nil {
		return problem(err)
	}
	var reply map[string]json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(found))
	if decoder.Decode(&reply) != nil || reply == nil { // null is none either
		return errors.New("the answer process sent no JSON object")
	}
	reply["model_name"], _ = json.Marshal(model) // a string has JSON
	writeJSON(w, reply)
	return nil
}

func (s *Section) take(req *http.Request) error {
	visitor := web.VisitorOf(req.Context())
	return s.quota.Take(cmp.Or(visitor.Email, visitor.Session), s.now())
}

func writeJSON(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // the reader has gone
}
