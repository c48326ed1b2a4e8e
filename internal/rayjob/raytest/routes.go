package raytest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) //nolint:gosec // plain text of a double for tests
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(v) // the client is gone if this fails
}

// agentError answers as the head does for an error of its agent: a 500 with a traceback around the text.
func agentError(w http.ResponseWriter, status int, text string) {
	plain(w, http.StatusInternalServerError, fmt.Sprintf(`Traceback (most recent call last):
  File "job_head.py", line 419, in submit_job
    resp = await job_agent_client.submit_job_internal(submit_request)
RuntimeError: Request failed with status code %d: Traceback (most recent call last):
  File "job_agent.py", line 45, in submit_job
    raise ValueError(
%s
.
`, status, text))
}

func (s *Server) version(w http.ResponseWriter, _ *http.Request) {
	reply(w, map[string]any{"version": "4", "ray_version": Version, "ray_commit": "0", "session_name": s.Session()})
}

func (s *Server) nodes(w http.ResponseWriter, _ *http.Request) {
	node := map[string]any{"state": "ALIVE", "resources_total": map[string]float64{"CPU": 2, "memory": 1 << 30}}
	dead := map[string]any{"state": "DEAD", "resources_total": map[string]float64{"CPU": 64, "GPU": 8}}
	reply(w, map[string]any{"result": true, "msg": "", "data": map[string]any{"result": map[string]any{"total": 2, "result": []any{node, dead}}}})
}

func (s *Server) submit(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Entrypoint   string            `json:"entrypoint"`
		SubmissionID string            `json:"submission_id"`
		Metadata     map[string]string `json:"metadata"`
		RuntimeEnv   struct {
			EnvVars map[string]string `json:"env_vars"`
		} `json:"runtime_env"`
	}
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields() // so does the real one
	if err := dec.Decode(&body); err != nil || body.Entrypoint == "" {
		plain(w, http.StatusBadRequest, "Traceback (most recent call last):\nTypeError: JobSubmitRequest.__init__() got an unexpected keyword argument")
		return
	}
	j := &Job{ID: body.SubmissionID, Entrypoint: body.Entrypoint, Metadata: body.Metadata, Env: body.RuntimeEnv.EnvVars}
	if !s.add(j) {
		agentError(w, http.StatusBadRequest, "ValueError: Job with submission_id "+j.ID+" already exists. Please use a different submission_id.")
		return
	}
	reply(w, map[string]string{"job_id": j.ID, "submission_id": j.ID})
}

func (s *Server) list(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []any{}
	for _, id := range s.order {
		all = append(all, s.jobs[id].details())
	}
	// A driver that connected by itself stands in the list as well, without a submission id.
	all = append(all, map[string]any{"type": "DRIVER", "job_id": "01000000", "submission_id": nil, "status": "RUNNING", "entrypoint": ""})
	reply(w, all)
}

// one finds the job of a request and calls f while nothing changes.
func (s *Server) one(f func(w http.ResponseWriter, j *Job)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		j := s.jobs[r.PathValue("id")]
		if j == nil {
			plain(w, http.StatusNotFound, "Job "+r.PathValue("id")+" does not exist")
			return
		}
		f(w, j)
	}
}

func (s *Server) show(w http.ResponseWriter, j *Job) { reply(w, j.details()) }

func (s *Server) stop(w http.ResponseWriter, j *Job) {
	if j.dead {
		reply(w, map[string]bool{"stopped": false})
		return
	}
	j.stopping = true
	j.cancel()
	reply(w, map[string]bool{"stopped": true})
}

func (s *Server) remove(w http.ResponseWriter, j *Job) {
	if !j.terminal() {
		agentError(w, http.StatusInternalServerError, "RuntimeError: Attempted to delete job '"+j.ID+"', but it is in a non-terminal state "+j.Status+".")
		return
	}
	delete(s.jobs, j.ID)
	s.order = slices.DeleteFunc(s.order, func(id string) bool { return id == j.ID })
	reply(w, map[string]bool{"deleted": true})
}

func (s *Server) logs(w http.ResponseWriter, j *Job) {
	text := j.output.String()
	if j.Status == "PENDING" {
		text = ""
	}
	reply(w, map[string]string{"logs": text})
}

// details is a job as Ray shows it; what has no value is null.
func (j *Job) details() map[string]any {
	d := map[string]any{
		"type": "SUBMISSION", "job_id": nil, "submission_id": j.ID, "driver_info": nil, "status": j.Status, "entrypoint": j.Entrypoint,
		"message": j.Message, "error_type": nil, "start_time": j.began.UnixMilli(), "end_time": nil, "metadata": j.Metadata,
		"runtime_env": map[string]any{"env_vars": j.Env}, "driver_agent_http_address": "http://127.0.0.1:52365",
		"driver_node_id": strings.Repeat("0", 56), "driver_exit_code": j.ExitCode,
	}
	if j.ErrorType != "" {
		d["error_type"] = j.ErrorType
	}
	if !j.ended.IsZero() {
		d["end_time"] = j.ended.UnixMilli()
	}
	if j.Message == "" {
		d["message"] = "Job is currently running."
	}
	return d
}
