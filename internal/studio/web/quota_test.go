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
	q, noon := NewQuota(3, "answers"), time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for range 3 {
		require.NoError(t, q.Take("alice", noon))
	}
	err := q.Take("alice", noon)
	require.Error(t, err)
	p := AsProblem(err)
	require.Equal(t, http.StatusTooManyRequests, p.Status)
	require.Equal(t, 20*time.Second, p.RetryAfter.Round(time.Millisecond))
	require.NoError(t, q.Take("bob", noon))
	require.NoError(t, q.Take("alice", noon.Add(p.RetryAfter)), "what was refused does not count")

	w := httptest.NewRecorder()
	newSite(t).Fail(w, request(t, "/api/v1/x", nil), err)
	require.Equal(t, "20", w.Header().Get("Retry-After"))
}
