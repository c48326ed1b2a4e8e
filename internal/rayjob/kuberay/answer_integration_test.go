//go:build integration

package kuberay

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/test/cluster"
)

// afterwards does what is asked for, and then loses the first answers about a new RayJob: status is what is answered in their
// place, 0 is silence.
type afterwards struct {
	next   http.RoundTripper
	left   *atomic.Int32
	status int
}

func (a afterwards) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := a.next.RoundTrip(r)
	if err != nil || r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/rayjobs") || a.left.Add(-1) < 0 {
		return answer, err
	}
	_ = answer.Body.Close() // nobody reads it
	if a.status == 0 {
		return nil, errors.New("the connection was reset by the peer")
	}
	body := io.NopCloser(strings.NewReader(`{"kind":"Status","apiVersion":"v1","status":"Failure"}`))
	return &http.Response{StatusCode: a.status, Header: http.Header{"Content-Type": {"application/json"}}, Request: r, Body: body}, nil
}

func TestAnswerToASubmissionIsLost(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{
		"with the connection": 0, "behind an error of the server": http.StatusInternalServerError,
		"behind a timeout of a gateway": http.StatusGatewayTimeout, "behind a limit": http.StatusTooManyRequests,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFixture(t, cluster.Shared(t))
			left := &atomic.Int32{}
			left.Store(1)
			conf := b.plane.Config()
			conf.Wrap(func(next http.RoundTripper) http.RoundTripper { return afterwards{next, left, status} })
			b.client = b.newClient(t, conf)
			a := b.attempt(t, raytest.Spec{})
			h, err := b.client.Submit(t.Context(), a)
			if err != nil { // the pipeline comes again, and finds it
				h = b.submit(t, a)
			}
			require.LessOrEqual(t, left.Load(), int32(0), "an answer was lost")
			all, err := b.client.ray.RayV1().RayJobs(b.namespace).List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			require.Len(t, all.Items, 1)
			b.until(t, h, rayjob.Succeeded)
			b.release(t, h)
			b.gone(t, h)
		})
	}
}
