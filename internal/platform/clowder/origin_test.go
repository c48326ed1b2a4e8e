package clowder

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/ability"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform/platformtest"
)

func TestTheOriginOfARequestIsTheSettingOfItsClowder(t *testing.T) {
	t.Parallel()
	const two, one = "HTTP://Two.example.org:80/", "http://one.example.org/clowder/"
	hosts := []string{"http://third.example.org"}
	for name, tc := range map[string]struct {
		set     clowder.Config
		version int
		want    string
	}{
		"a v2":                                {clowder.Config{URL: two}, 2, two},
		"a record from before the versions":   {clowder.Config{URL: two}, 0, two},
		"a v1 at the address for all":         {clowder.Config{URL: two}, 1, two},
		"a v1 beside a v2":                    {clowder.Config{URL: two, URLs: map[int]string{1: one}}, 1, one},
		"a v2 beside a v1":                    {clowder.Config{URL: two, URLs: map[int]string{1: one}}, 2, two},
		"a v2 of which messages tell":         {clowder.Config{AllowedHosts: hosts, URLs: map[int]string{1: one}}, 2, ""},
		"a v1 whose own address is not given": {clowder.Config{URL: two, URLs: map[int]string{1: ""}}, 1, two},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, err := clowder.NewClient(tc.set)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, client.Close()) })
			configured, named := New(client, platformtest.Extractors(t)).Origin(job.Request{APIVersion: tc.version, Host: "HTTPS://Elsewhere.example.org:443/"})
			require.Equal(t, tc.want, configured, "as it is set: names of runs are made of it")
			require.Equal(t, "https://elsewhere.example.org", named)
		})
	}
}

func TestARequestHasTheAbilitiesOfItsClowder(t *testing.T) {
	t.Parallel()
	client, err := clowder.NewClient(clowder.Config{URL: "http://clowder.example.org"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	platform := New(client, platformtest.Extractors(t))
	for version, want := range map[int]ability.Set{
		0: {ShowsJobs: true, ConfirmsStatuses: true, SubmitsFiles: true},
		1: {CancelsQueued: true, DropsReplyQueue: true, OffersForFiles: true, RefusesWith500: true},
		2: {ShowsJobs: true, ConfirmsStatuses: true, SubmitsFiles: true},
	} {
		rec := job.Record{Request: job.Request{APIVersion: version}}
		require.Equal(t, want, platform.Abilities(rec.Request))
		_, err := platform.jobs(rec)
		if want.ShowsJobs {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "does not list jobs")
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind)
	}
}
