package web

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAQuotaCountsEachPerson(t *testing.T) {
	t.Parallel()
	q := NewQuota(3, "answers")
	for range 3 {
		require.NoError(t, q.Take("alice"))
	}
	err := q.Take("alice")
	require.Error(t, err)
	p := AsProblem(err)
	require.Equal(t, http.StatusTooManyRequests, p.Status)
	require.InDelta(t, 20*time.Second, p.RetryAfter, float64(time.Second))
	require.NoError(t, q.Take("bob"))

	w := httptest.NewRecorder()
	newSite(t).Fail(w, request(t, "/api/v1/x", nil), err)
	require.Equal(t, "20", w.Header().Get("Retry-After"))
}
