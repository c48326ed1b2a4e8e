package jobsapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/jobsapi"
)

// BenchmarkObserve1000 is one interval with 1,000 running jobs and 100 failed ones with long messages: what it costs to
// ask for each of the running ones, all at once, and what the listing keeps of the memory.
func BenchmarkObserve1000(b *testing.B) {
	var requests atomic.Int64
	listing := manyJobs(b)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		_, _ = w.Write(listing)
	}))
	b.Cleanup(web.Close)
	var c *jobsapi.Client
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if c, err = jobsapi.New(jobsapi.Config{Address: web.URL, PollInterval: time.Hour}, zap.NewNop()); err != nil {
			b.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				if _, err := c.Observe(b.Context(), rayjob.Handle{ID: fmt.Sprint("ft-x-a", i)}, time.Hour); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
		c.CloseIdleConnections()
	}
	b.ReportMetric(float64(requests.Load())/float64(b.N), "requests/op")
	b.ReportMetric(float64(len(listing)), "listing-bytes")
	with := heap()
	runtime.KeepAlive(c)
	c = nil
	b.ReportMetric(with-heap(), "kept-bytes")
}

func manyJobs(b *testing.B) []byte {
	b.Helper()
	var jobs []map[string]any
	for i := range 1100 {
		j := map[string]any{
			"type": "SUBMISSION", "submission_id": fmt.Sprint("ft-x-a", i), "status": "RUNNING", "message": "Job is currently running.",
			"entrypoint": "python -m trainer run /shared/runs/ft-x/spec.json", "metadata": map[string]string{rayjob.LabelRun: "ft-x"},
			"runtime_env": map[string]any{"env_vars": rayjob.Attempt{}.Environment()}, "driver_node_id": strings.Repeat("0", 56),
		}
		if i >= 1000 {
			j["status"], j["message"] = "FAILED", strings.Repeat("step 1 of 100\n", 1400)
		}
		jobs = append(jobs, j)
	}
	doc, err := json.Marshal(jobs)
	if err != nil {
		b.Fatal(err)
	}
	return doc
}

// heap is what is in use after a collection.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
