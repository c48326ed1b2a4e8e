package jobsapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/jobsapi"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
)

func attempt() rayjob.Attempt {
	return rayjob.Attempt{Run: "ft-abc", Number: 1, Dir: "/shared/runs/ft-abc", Python: "python"}
}

// step is a fault that the next request of its kind meets.
type step struct {
	method, path string
	fault        raytest.Fault
}

const (
	jobs = "/api/jobs/"
	one  = "/api/jobs/{id}"
)

func TestSubmitWhenRayMisbehaves(t *testing.T) {
	t.Parallel()
	post := func(f raytest.Fault) step { return step{http.MethodPost, jobs, f} }
	look := func(f raytest.Fault) step { return step{http.MethodGet, one, f} }
	for name, tc := range map[string]struct {
		steps    []step
		kind     job.Kind // of the error
		fails    bool
		text     string
		jobs     int
		requests int           // posts
		timeout  time.Duration // 0 is the usual one
	}{
		"the answer is lost":                {steps: []step{post(raytest.DropAnswer())}, jobs: 1, requests: 1},
		"the request is lost":               {steps: []step{post(raytest.Drop())}, jobs: 1, requests: 2},
		"an internal error":                 {steps: []step{post(raytest.Answer(500, "Traceback (most recent call last):\nKeyError: 1\n"))}, jobs: 1, requests: 2},
		"a page of a proxy":                 {steps: []step{post(raytest.Answer(200, "<html>"))}, jobs: 1, requests: 2},
		"no answer, but it was taken":       {steps: []step{post(hangAfter())}, jobs: 1, requests: 1, timeout: 2 * time.Second},
		"two errors":                        {steps: []step{post(raytest.Answer(502, "")), post(raytest.Answer(502, ""))}, fails: true, kind: job.KindUnknown, text: "(502)", requests: 2},
		"an error, and no look is possible": {steps: []step{post(raytest.DropAnswer()), look(raytest.Answer(503, ""))}, fails: true, kind: job.KindUnknown, text: "cannot reach Ray", jobs: 1, requests: 1},
		"the cluster is starting":           {steps: []step{post(raytest.Answer(500, "No available agent to submit job, please try again later."))}, fails: true, kind: job.KindRetryable, text: "does not accept jobs yet", requests: 1},
		"too many requests":                 {steps: []step{post(raytest.Answer(429, ""))}, fails: true, kind: job.KindLater, text: "(429)", requests: 1},
		"a request that Ray does not like":  {steps: []step{post(raytest.Answer(400, "Traceback (most recent call last):\nTypeError: unexpected keyword\n"))}, fails: true, kind: job.KindPermanent, text: "TypeError: unexpected keyword", requests: 1},
		"another web server":                {steps: []step{post(redirect())}, fails: true, kind: job.KindLater, text: "RAY_ADDRESS", requests: 1},
		"no version":                        {steps: []step{{http.MethodGet, "/api/version", raytest.Answer(200, "{}")}}, fails: true, kind: job.KindRetryable, text: "does not come from Ray"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, address := serve(t, raytest.Config{})
			for _, s := range tc.steps {
				server.Fault(1, s.method, s.path, s.fault)
			}
			c := client(t, jobsapi.Config{Address: address, Timeout: tc.timeout})
			h, err := c.Submit(t.Context(), attempt())
			require.Len(t, server.Jobs(), tc.jobs)
			require.Equal(t, tc.requests, server.Requests(http.MethodPost, jobs))
			if !tc.fails {
				require.NoError(t, err)
				require.Equal(t, rayjob.Handle{Backend: "jobsapi", ID: "ft-abc-a1", Address: address, Session: server.Session()}, h)
				return
			}
			require.ErrorContains(t, err, tc.text)
			require.NotContains(t, err.Error(), "\n")
			kind, _ := job.Classify(err)
			require.Equal(t, tc.kind, kind, err)

			// Whatever happened, the same call ends in one job.
			again, err := c.Submit(t.Context(), attempt())
			if tc.text == "does not come from Ray" { // shared for a while
				return
			}
			require.NoError(t, err)
			require.Equal(t, "ft-abc-a1", again.ID)
			require.Len(t, server.Jobs(), 1)
		})
	}
}

// hangAfter does what was asked for and never answers.
func hangAfter() raytest.Fault {
	return func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(httptest.NewRecorder(), r)
		<-r.Context().Done()
	}
}

func redirect() raytest.Fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
	}
}

func TestSubmitOfAFaultyAttempt(t *testing.T) {
	t.Parallel()
	server, address := serve(t, raytest.Config{})
	a := attempt()
	a.Dir = "/shared/$(id)"
	_, err := client(t, jobsapi.Config{Address: address}).Submit(t.Context(), a)
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
	require.Empty(t, server.Jobs())
}

func TestRayThatIsNotThere(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.NotFoundHandler())
	web.Close()
	c := client(t, jobsapi.Config{Address: web.URL})
	_, observe := c.Observe(t.Context(), rayjob.Handle{ID: "x"}, time.Hour)
	_, submit := c.Submit(t.Context(), attempt())
	for _, err := range []error{observe, submit, c.Stop(t.Context(), rayjob.Handle{ID: "x"}), c.Release(t.Context(), rayjob.Handle{ID: "x"})} {
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindRetryable, kind)
		require.ErrorContains(t, err, "connection refused")
		require.ErrorContains(t, err, web.URL)
	}
}

func TestAStopOfTheServiceIsNoFaultOfRay(t *testing.T) {
	t.Parallel()
	server, address := serve(t, raytest.Config{})
	server.Fault(1, http.MethodPost, jobs, raytest.Hang())
	c := client(t, jobsapi.Config{Address: address})
	stopping := errors.New("the service stops")
	ctx, cancel := context.WithCancelCause(t.Context())
	context.AfterFunc(ctx, func() {})
	done := make(chan error, 1)
	go func() { _, err := c.Submit(ctx, attempt()); done <- err }()
	require.Eventually(t, func() bool { return server.Requests(http.MethodPost, jobs) == 1 }, 5*time.Second, time.Millisecond)
	cancel(stopping)
	err := <-done
	require.ErrorIs(t, err, stopping)
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindUnknown, kind, "the attempt may have been taken")
}

func TestTokenOfAFileIsReadAnew(t *testing.T) {
	t.Parallel()
	_, address := serve(t, raytest.Config{Token: "second"})
	file := filepath.Join(t.TempDir(), "token")
	c := client(t, jobsapi.Config{Address: address, TokenFile: file, PollInterval: time.Nanosecond})
	for _, tc := range []struct{ content, want string }{{"", "no such file"}, {"first\n", "(403)"}, {"second\n", ""}} {
		if tc.content != "" {
			require.NoError(t, os.WriteFile(file, []byte(tc.content), 0o600))
		}
		_, err := c.Check(t.Context())
		if tc.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, tc.want)
		require.ErrorContains(t, err, "RAY_AUTH_TOKEN_PATH")
	}
}

func TestTokenIsInNoError(t *testing.T) {
	t.Parallel()
	server, address := serve(t, raytest.Config{Token: "s3cr3t-token"})
	echo := func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		http.Error(w, "ValueError: bad header "+r.Header.Get("X-Ray-Authorization"), http.StatusBadRequest)
	}
	server.Fault(1, http.MethodPost, jobs, echo)
	_, err := client(t, jobsapi.Config{Address: address, Token: "s3cr3t-token"}).Submit(t.Context(), attempt())
	require.ErrorContains(t, err, "bad header Bearer ***")
	require.NotContains(t, err.Error(), "s3cr3t")
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cfg  jobsapi.Config
		want string // "" is accepted
	}{
		"a URL":                    {jobsapi.Config{Address: "http://ray:8265/"}, ""},
		"a host and port":          {jobsapi.Config{Address: "ray:8265"}, ""},
		"a path of a proxy":        {jobsapi.Config{Address: "https://gate.example.org/ray"}, ""},
		"nothing":                  {jobsapi.Config{}, "RAY_ADDRESS is empty"},
		"a client address":         {jobsapi.Config{Address: "ray://ray:10001"}, "begins with ray://"},
		"a token in the address":   {jobsapi.Config{Address: "http://u:hidden@ray:8265"}, "put a token into RAY_AUTH_TOKEN"},
		"what is no address":       {jobsapi.Config{Address: "http://hidden\x7f"}, "is not an address"},
		"no host":                  {jobsapi.Config{Address: "http://"}, "has no host"},
		"a token of two lines":     {jobsapi.Config{Address: "ray:8265", Token: "hidden\nx"}, "line break"},
		"no certificates":          {jobsapi.Config{Address: "ray:8265", CAFile: "/nowhere"}, "read the certificates"},
		"a negative time":          {jobsapi.Config{Address: "ray:8265", Timeout: -1}, "negative"},
		"certificates that are no": {jobsapi.Config{Address: "ray:8265", CAFile: "main_test.go"}, "contains no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := jobsapi.New(tc.cfg, nopLogger())
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.want)
			require.NotContains(t, err.Error(), "hidden")
		})
	}
}
