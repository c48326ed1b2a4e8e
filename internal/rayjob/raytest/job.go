package raytest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// Job is one submitted job, with Ray's own statuses.
type Job struct {
	ID, Entrypoint, Status, Message, ErrorType string
	Metadata, Env                              map[string]string
	// ExitCode is the exit code of the driver; nil while it runs.
	ExitCode *int

	began, ended time.Time
	output       *output
	cancel       context.CancelFunc
	stopping     bool
	dead         bool // the supervisor has ended, so a stop has no effect
}

// Driver is a started training program.
type Driver struct {
	ID, Entrypoint string
	Env, Metadata  map[string]string
	// Output is what the job prints.
	Output io.Writer
}

// output collects the output of a driver. It is safe for concurrent use.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// Jobs lists the ids of all jobs in the order of their submission.
func (s *Server) Jobs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.order)
}

// Change changes a job without its driver, and adds the job if it does not exist, e.g. to give it an unknown status or another
// owner.
func (s *Server) Change(id string, change func(*Job)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, ok := s.jobs[id]
	if !ok {
		j = &Job{ID: id, Status: "PENDING", began: time.Now(), cancel: func() {}, dead: true, output: &output{}}
		s.jobs[id] = j
		s.order = append(s.order, id)
	}
	change(j)
}

// add starts a job, or reports that its id is taken.
func (s *Server) add(j *Job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs[j.ID] != nil {
		return false
	}
	ctx, cancel := context.WithCancel(context.Background())
	j.Status, j.began, j.cancel, j.output = "PENDING", time.Now(), cancel, &output{}
	s.jobs[j.ID] = j
	s.order = append(s.order, j.ID)
	s.drivers.Go(func() {
		defer cancel()
		s.drive(ctx, j)
	})
	return true
}

// drive runs a job from pending to its end.
func (s *Server) drive(ctx context.Context, j *Job) {
	if s.cfg.Start != nil {
		select {
		case <-s.cfg.Start:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	stopped := j.stopping
	if !stopped && j.Status == "PENDING" {
		j.Status = "RUNNING"
	}
	d := Driver{ID: j.ID, Entrypoint: j.Entrypoint, Env: maps.Clone(j.Env), Metadata: maps.Clone(j.Metadata), Output: j.output}
	s.mu.Unlock()

	code := 0
	if !stopped && s.cfg.Run != nil {
		_, _ = fmt.Fprintf(d.Output, "Running entrypoint for job %s: %s\n", j.ID, j.Entrypoint)
		code = s.cfg.Run(ctx, d)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	j.end(code)
}

func (j *Job) end(code int) {
	j.ended, j.dead = time.Now(), true
	switch {
	case j.stopping:
		j.Status = "STOPPED"
	case code == 0:
		j.Status, j.ExitCode = "SUCCEEDED", &code
	default:
		j.Status, j.ExitCode, j.ErrorType = "FAILED", &code, "JOB_ENTRYPOINT_COMMAND_ERROR"
		j.Message = fmt.Sprintf("Job entrypoint command failed with exit code %d, last available logs (truncated to 20,000 chars):\n%s", code, j.output)
	}
}

// terminal reports whether Ray allows the job to be deleted.
func (j *Job) terminal() bool {
	return j.Status == "SUCCEEDED" || j.Status == "STOPPED" || j.Status == "FAILED"
}
