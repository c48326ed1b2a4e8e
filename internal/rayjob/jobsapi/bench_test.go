package jobsapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/jobsapi"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
)

// BenchmarkObserve1000 is one interval with 1,000 running jobs and 100 failed ones with long messages: what it costs to
// ask for each of them, all at once.
func BenchmarkObserve1000(b *testing.B) {
	server, address := serve(b, raytest.Config{})
	for i := range 1100 {
		server.Change(fmt.Sprint("ft-x-a", i), func(j *raytest.Job) {
			j.Status = "RUNNING"
			if i >= 1000 {
				j.Status, j.Message = "FAILED", strings.Repeat("step 1 of 100\n", 1400)
			}
		})
	}
	b.ReportAllocs()
	for b.Loop() {
		c, err := jobsapi.New(jobsapi.Config{Address: address, PollInterval: time.Hour}, zap.NewNop())
		if err != nil {
			b.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				if _, err := c.Observe(b.Context(), rayjob.Handle{ID: fmt.Sprint("ft-x-a", i)}); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
		c.CloseIdleConnections()
	}
	b.ReportMetric(float64(server.Requests(http.MethodGet, "/api/jobs/"))/float64(b.N), "requests/1000-observes")
}
