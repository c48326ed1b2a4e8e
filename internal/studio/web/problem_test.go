package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
)

func TestWhatHumaFindsWrongIsAProblemOfTheStudio(t *testing.T) {
	t.Parallel()
	wrapped := fmt.Errorf("read: %w", NotFound)
	for name, c := range map[string]struct {
		status int
		errs   []error
		want   Problem
	}{
		"a field that is missing": {
			422,
			[]error{errors.New("expected required property rows")},
			Problem{Type: "request", Title: "Unprocessable Entity", Status: 422, Detail: "Validation failed; expected required property rows."},
		},
		"two fields": {
			422,
			[]error{errors.New("one"), nil, errors.New("two")},
			Problem{Type: "request", Title: "Unprocessable Entity", Status: 422, Detail: "Validation failed; one; two."},
		},
		"no details": {400, nil, Problem{Type: "request", Title: "Bad Request", Status: 400, Detail: "Validation failed."}},
		"a problem":  {422, []error{wrapped}, *NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.want.Do == "" {
				c.want.Do = "Compare the request with /api/v1/openapi.json."
			}
			got := NewHumaError(c.status, "validation failed", c.errs...)
			require.Equal(t, &c.want, got)
			require.Equal(t, c.want.Status, got.GetStatus())
		})
	}
}

func TestHumaSendsAProblemWithItsTypeAndWhenToTryAgain(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	huma.Get(humago.New(mux, huma.DefaultConfig("test", "1")), "/x", func(context.Context, *struct{}) (*struct{}, error) {
		return nil, fmt.Errorf("ask: %w", &Problem{Type: "busy", Title: "Busy", Status: http.StatusServiceUnavailable, RetryAfter: 1100 * time.Millisecond})
	})
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, request(t, "/x", nil))
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Equal(t, problemType, w.Header().Get("Content-Type"))
	require.Equal(t, "2", w.Header().Get("Retry-After"))
	require.JSONEq(t, `{"type":"busy","title":"Busy","status":503}`, w.Body.String())
}

func TestAVisitorIsNeverToldToComeBackTooEarly(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration][]string{
		0: nil, -time.Second: nil, time.Nanosecond: {"1"}, time.Second: {"1"}, time.Second + 1: {"2"}, time.Minute: {"60"},
	} {
		require.Equal(t, want, (&Problem{RetryAfter: wait}).GetHeaders().Values("Retry-After"), wait)
	}
}

func TestAProblemSaysWhatClowderOrTheServiceSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		detail string
	}{
		"a refusal of the service":              {job.Permanent(errors.New("the run has ended")), "The run has ended."},
		"a right that Clowder denies":           {fmt.Errorf("add a file: %w", clowder.NewAnswerError(403, "not yours")), "Add a file: not yours."},
		"a file that Clowder does not have":     {job.Permanent(clowder.NewAnswerError(404, "File 1 not found")), NotFound.Detail},
		"a login that Clowder refuses for good": {job.Permanent(clowder.NewAnswerError(401, "token abc")), "Clowder no longer accepts your login."},
		"a Clowder that is overloaded":          {job.Retryable(clowder.NewAnswerError(503, "at 10.0.0.7")), "The studio could not ask Clowder."},
		"a body that is too long":               {fmt.Errorf("read: %w", &http.MaxBytesError{Limit: 2 << 20}), "The request is longer than 2 MiB."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.detail, AsProblem(c.err).Detail)
		})
	}
}
