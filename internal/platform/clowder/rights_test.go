package clowder

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform/platformtest"
)

// TestWhoMayManageARunOfClowderV1 has the user of a job in its message only, because v1 shows no jobs.
func TestWhoMayManageARunOfClowderV1(t *testing.T) {
	t.Parallel()
	const carol = "carol@example.org"
	server, err := clowdertest.New(clowdertest.Options{Version: 1, Users: []string{alice, bob, carol}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	client, err := clowder.NewClient(clowder.Config{URLs: map[int]string{1: server.URL}, Cache: disk.Folder{Volume: t.TempDir()}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	platform := New(client, platformtest.Extractors(t))
	dataset := server.AddDataset(alice, "Reviews")
	server.Share(dataset, bob, "viewer")
	server.Share(dataset, carol, "editor")
	of := func(users ...string) job.Record {
		return job.New("ft-other", job.Train, job.Request{APIVersion: 1, JobID: "000000000000000000000001", DatasetID: dataset, Notifies: users}, "")
	}
	for name, tc := range map[string]struct {
		key, by string
		other   job.Record
		want    string // the error; empty where they may
	}{
		"their own":                       {server.Key(bob), bob, of(bob), ""},
		"one in their dataset":            {server.Key(alice), alice, of(bob), ""},
		"one in a dataset that they edit": {server.Key(carol), carol, of(bob), ""},
		"somebody else's":                 {server.Key(bob), "", of(alice), "run ft-other was started by alice@example.org"},
		"one of nobody":                   {server.Key(bob), "", of(), "was started by another user"},
		"one of several people":           {server.Key(bob), "", of(alice, bob), "was started by alice@example.org, bob@example.org"},
		"any, with the key of the site":   {server.GlobalKey(), "an administrator", of(bob), ""},
		"any, with a wrong key":           {"wrong", "", of(bob), "does not accept the key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			by, err := platform.CanManage(t.Context(), job.New(run, job.Train, job.Request{APIVersion: 1, DatasetID: dataset}, job.Secret(tc.key)), tc.other)
			if tc.want == "" {
				require.NoError(t, err)
				require.Equal(t, tc.by, by)
				return
			}
			require.ErrorContains(t, err, tc.want)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		})
	}
}

func TestWhoMayManageARun(t *testing.T) {
	t.Parallel()
	const carol = "carol@example.org"
	server, err := clowdertest.New(clowdertest.Options{Users: []string{alice, bob, carol}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	client, err := clowder.NewClient(clowder.Config{URL: server.URL, Cache: disk.Folder{Volume: t.TempDir()}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	platform := New(client, platformtest.Extractors(t))
	dataset := server.AddDataset(alice, "Reviews")
	server.Share(dataset, bob, "uploader")
	server.Share(dataset, carol, "editor")

	of := func(user string) job.Record {
		id := server.AddJob(user, dataset, "ncsa.ray.finetune")
		return job.New("ft-of-"+user[:3], job.Train, job.Request{APIVersion: 2, JobID: id, DatasetID: dataset}, "")
	}
	unknown := job.New("ft-unknown", job.Train, job.Request{APIVersion: 2, JobID: "000000000000000000000000", DatasetID: dataset}, "")
	for name, tc := range map[string]struct {
		user  string
		other job.Record
		want  string // the error; empty where they may
	}{
		"their own":                       {bob, of(bob), ""},
		"one in their dataset":            {alice, of(bob), ""},
		"one in a dataset that they edit": {carol, of(bob), ""},
		"somebody else's":                 {bob, of(alice), "run ft-of-ali was started by alice@example.org"},
		"one that Clowder has forgotten":  {bob, unknown, "was started by another user"},
		"the same, in their dataset":      {alice, unknown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := job.New(run, job.Train, job.Request{APIVersion: 2, DatasetID: dataset}, job.Secret(server.Key(tc.user)))
			by, err := platform.CanManage(t.Context(), rec, tc.other)
			if tc.want == "" {
				require.NoError(t, err)
				require.Equal(t, tc.user, by)
				return
			}
			require.ErrorContains(t, err, tc.want)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		})
	}
}

// TestAJobEndsBeforeItsDownloadWhereItMayNotDeliver in both versions of Clowder, as far as they know these cases.
func TestAJobEndsBeforeItsDownloadWhereItMayNotDeliver(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		versions []int
		role     string // of bob, who submits
		change   func(server *clowdertest.Server, dataset string)
		want     string // the error; empty where the job goes on
	}{
		"an uploader":         {versions: []int{2}, role: "uploader"},
		"an editor":           {versions: []int{1, 2}, role: "editor"},
		"a viewer":            {versions: []int{1, 2}, role: "viewer", want: "not add files to it, so no results could be added: ask its owner"},
		"a user who may read": {[]int{2}, "editor", func(s *clowdertest.Server, _ string) { s.LetOnlyRead(bob) }, "the user bob@example.org may only read in this Clowder"},
		"a released version": {
			[]int{2},
			"editor", func(s *clowdertest.Server, dataset string) { s.Release(dataset, "64aaaaaaaaaaaaaaaaaaaaaa") },
			"this is the released version 1 of the dataset, which takes no results: submit the dataset itself (64aaaaaaaaaaaaaaaaaaaaaa)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, version := range tc.versions {
				d := newDeliveryTo(t, version, bob)
				dataset := d.rec.Request.DatasetID
				d.server.Share(dataset, bob, tc.role)
				_, err := d.server.AddFile(dataset, "train.csv", strings.NewReader("text,label\n"))
				require.NoError(t, err)
				if tc.change != nil {
					tc.change(d.server, dataset)
				}
				var said []string
				inputs, _, err := d.platform.Stage(t.Context(), d.rec, disk.Folder{Volume: t.TempDir()}, hear(&said))
				if tc.want == "" {
					require.NoError(t, err)
					require.Len(t, inputs, 1)
					continue
				}
				require.ErrorContains(t, err, tc.want, "version %d", version)
				kind, _ := job.Classify(err)
				require.Equal(t, job.KindPermanent, kind)
				require.Empty(t, said, "nothing is downloaded")
			}
		})
	}
}
