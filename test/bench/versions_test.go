//go:build integration

package bench

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	v1 "github.com/ncsa/clowder-ray/internal/clowder/v1"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/stack"
)

// mixed is the number of jobs in each round.
const mixed = 200

// BenchmarkBothVersions sends jobs to one service: all from a Clowder v2, and then half of them from a Clowder v1 on the same broker. Each
// job has a dataset of its own. Ray plays each training at once, so that downloads, uploads and statuses take the time. The two ways take
// turns in being the first of a round, and x-mixed compares them round by round.
func BenchmarkBothVersions(b *testing.B) {
	program := stack.Program(b)
	var alone, together, compared ratios
	for b.Loop() {
		var rates [2]float64 // of v2 alone, and of both
		for i := range rates {
			way := (len(compared) + i) % len(rates)
			rates[way] = rateOfVersions(b, program, way*mixed/2)
		}
		b.Logf("v2 alone %.1f jobs/s, both %.1f jobs/s", rates[0], rates[1])
		alone, together, compared = append(alone, rates[0]), append(together, rates[1]), append(compared, rates[1]/rates[0])
	}
	compared.report(b, "x-mixed")
	alone.report(b, "v2-jobs/s")
	together.report(b, "mixed-jobs/s")
}

// rateOfVersions returns how many jobs a second are done from end to end, where so many of them are of Clowder v1.
func rateOfVersions(b *testing.B, program string, first int) float64 {
	b.Helper()
	uri := broker.ForTest(b).Vhost(b)
	w := stack.NewFixtureWith(b, program, clowdertest.Options{AMQPURI: uri}, nil)
	one, err := clowdertest.New(clowdertest.Options{Version: 1, AMQPURI: uri, Exchange: "clowder1"})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, one.Close()) })
	client, err := clowder.NewClient(clowder.Config{URLs: map[int]string{1: one.URL}, Cache: disk.Folder{Volume: b.TempDir()}})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, client.Close()) })
	s, err := v1.At(client, "", job.Secret(one.Key(stack.User)))
	require.NoError(b, err)
	service := w.Start(b, map[string]string{
		"CLOWDER1_URL": one.URL, "RABBITMQ_EXCHANGE": "clowder1", "LOG_LEVEL": "warn", "MAX_JOBS": strconv.Itoa(2 * mixed), "MAX_JOBS_PER_USER": strconv.Itoa(2 * mixed),
	})
	dataset := func(server *clowdertest.Server, i int) string {
		id := server.AddDataset(stack.User, fmt.Sprintf("d%d", i))
		_, err := server.AddFile(id, "train.csv", strings.NewReader("text,label\ngood,yes\nbad,no\n"))
		require.NoError(b, err)
		return id
	}
	submitted := map[*clowdertest.Server][]string{one: nil, w.Clowder: nil}
	start := time.Now()
	for i := range mixed {
		if i%2 == 0 && i/2 < first {
			id, err := s.Submit(b.Context(), dataset(one, i), stack.Extractor, nil)
			require.NoError(b, err)
			submitted[one] = append(submitted[one], id)
			continue
		}
		submitted[w.Clowder] = append(submitted[w.Clowder], w.Submit(b, dataset(w.Clowder, i), nil))
	}
	versions := map[int]int{}
	for _, rec := range w.AwaitRecords(b, mixed) {
		require.Equal(b, job.Done, rec.State, rec.LastError)
		versions[rec.Request.APIVersion]++
	}
	took := time.Since(start)
	for server, jobs := range submitted {
		requireAnswered(b, server, jobs)
	}
	require.Equal(b, first, versions[1])
	require.Equal(b, mixed-first, versions[2])
	require.NoError(b, service.Stop(time.Minute))
	return mixed / took.Seconds()
}

// requireAnswered checks that a Clowder heard the end of each of its jobs once, and of no others.
func requireAnswered(b *testing.B, server *clowdertest.Server, jobs []string) {
	b.Helper()
	var ended []string
	for _, s := range server.ReceivedStatuses() {
		if s.Status == "done" || s.Status == "SUCCEEDED" {
			ended = append(ended, s.JobID)
		}
	}
	require.ElementsMatch(b, jobs, ended)
}
