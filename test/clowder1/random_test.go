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
func (f *fixture) testKilledAtRandomMoments() {
	s := f.serve(nil)
	twice := 0
	for i := range moments {
		after := time.Duration(rand.Int64N(int64(longest)))
		dataset, _ := f.dataset(fmt.Sprintf("Killed %d", i))
		trainings := f.Trainings.Load()
		f.submit("datasets", dataset, stack.Extractor, nil)
		<-time.After(after)
		s.Kill()
		s = f.serve(nil)
		f.awaitLine("/datasets/"+dataset, "DONE", 1)
		f.awaitNoActive()
		lines := f.log("/datasets/" + dataset)
		f.Logf("killed after %s: %d lines", after, len(lines))
		require.Contains(f, []int{1, 2}, count(lines, "DONE"), "%q", lines)
		if count(lines, "DONE") == 2 {
			twice++
		}
		require.Equal(f, "DONE", lines[len(lines)-1], "nothing follows the end: %q", lines)
		require.Equal(f, trainings+1, f.Trainings.Load(), "one training")
		names := f.files(dataset)
		require.Len(f, slices.Compact(slices.Sorted(slices.Values(names))), len(names), "each file once: %q", names)
		require.Equal(f, 1, count(names, "model.zip"), "%q", names)
		require.Equal(f, 1, f.entries(dataset), "one entry of metadata")
	}
	require.LessOrEqual(f, twice, 1, "an end that stands there twice is rare")
	require.NoError(f, s.Stop(30*time.Second))
}

// awaitNoActive waits until all jobs are over.
func (f *fixture) awaitNoActive() {
	f.Helper()
	require.Eventually(f, func() bool {
		for _, rec := range f.Records(f) {
			if rec.Active() {
				return false
			}
		}
		return true
	}, stack.StepTimeout, 200*time.Millisecond)
}

// entries counts what the training extractor has added to the metadata of a dataset.
func (f *fixture) entries(dataset string) (n int) {
	var rows []struct {
		Agent struct {
			ID string `json:"extractor_id"`
		}
	}
	f.call("GET", "/api/datasets/"+dataset+"/metadata.jsonld", nil, &rows)
	for _, row := range rows {
		if strings.Contains(row.Agent.ID, "/"+stack.Extractor+"/") {
			n++
		}
	}
	return n
}
