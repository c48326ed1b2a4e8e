//go:build clowder1

package clowder1

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/test/stack"
)

const (
	// moments is how often the service is killed, and longest the time that a job takes about.
	moments = 10
	longest = 4 * time.Second
)

// testKilledAtRandomMoments kills the service while a job is under way, each time at another moment, and expects one set of results and one
// end of each job. Only a kill within the moment in which the end is confirmed may leave the end twice.
func (r *rig) testKilledAtRandomMoments() {
	s := r.serve(nil)
	twice := 0
	for i := range moments {
		after := time.Duration(rand.Int64N(int64(longest)))
		dataset, _ := r.dataset(fmt.Sprintf("Killed %d", i))
		trainings := r.Trainings.Load()
		r.submit("datasets", dataset, stack.Extractor, nil)
		<-time.After(after)
		s.Kill()
		s = r.serve(nil)
		r.awaitLine("/datasets/"+dataset, "DONE", 1)
		r.awaitNoActive()
		lines := r.log("/datasets/" + dataset)
		r.Logf("killed after %s: %d lines", after, len(lines))
		require.Contains(r, []int{1, 2}, count(lines, "DONE"), "%q", lines)
		if count(lines, "DONE") == 2 {
			twice++
		}
		require.Equal(r, "DONE", lines[len(lines)-1], "nothing follows the end: %q", lines)
		require.Equal(r, trainings+1, r.Trainings.Load(), "one training")
		names := r.files(dataset)
		require.Len(r, slices.Compact(slices.Sorted(slices.Values(names))), len(names), "each file once: %q", names)
		require.Equal(r, 1, count(names, "model.zip"), "%q", names)
		require.Equal(r, 1, r.entries(dataset), "one entry of metadata")
	}
	require.LessOrEqual(r, twice, 1, "an end that stands there twice is rare")
	require.NoError(r, s.Stop(30*time.Second))
}

// awaitNoActive waits until all jobs are over.
func (r *rig) awaitNoActive() {
	r.Helper()
	require.Eventually(r, func() bool {
		for _, rec := range r.Records(r) {
			if rec.Active() {
				return false
			}
		}
		return true
	}, stack.StepTimeout, 200*time.Millisecond)
}

// entries counts what the training extractor has added to the metadata of a dataset.
func (r *rig) entries(dataset string) (n int) {
	var rows []struct {
		Agent struct {
			ID string `json:"extractor_id"`
		}
	}
	r.call("GET", "/api/datasets/"+dataset+"/metadata.jsonld", nil, &rows)
	for _, row := range rows {
		if strings.Contains(row.Agent.ID, "/"+stack.Extractor+"/") {
			n++
		}
	}
	return n
}
