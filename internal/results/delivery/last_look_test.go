package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

// changingRemote is a world whose other side shows a change between two lists, and may refuse what it is asked.
type changingRemote struct {
	*fakeRemote
	lists   int
	before  map[int]func() // before the list of that number, from 1
	listErr map[int]error
	remove  error
}

func (u *changingRemote) List(ctx context.Context) ([]Remote, error) {
	u.lists++
	if change := u.before[u.lists]; change != nil {
		change()
	}
	if err := u.listErr[u.lists]; err != nil {
		return nil, err
	}
	return u.fakeRemote.List(ctx)
}

func (u *changingRemote) Remove(ctx context.Context, id string) error {
	if u.remove != nil {
		return u.remove
	}
	return u.fakeRemote.Remove(ctx, id)
}

// deliver delivers to an unsteady world with the ledger on its disk, and writes the ledger as the caller of Deliver does.
func (u *changingRemote) deliver(t *testing.T, artifacts []Artifact) (map[string]string, error) {
	t.Helper()
	u.lists = 0
	l, err := OpenLedger(u.disk, u.save)
	require.NoError(t, err)
	l.atOnce = 1
	ids, err := Deliver(t.Context(), l, u, artifacts, u.card())
	if err != nil {
		return nil, err
	}
	u.disk, err = l.Encode()
	require.NoError(t, err)
	return ids, nil
}

// remoteReport is the file of the report as the other side shows it under that id.
func remoteReport(id string, size int64, state RemoteState) Remote {
	return Remote{ID: id, Name: "report.html", Size: size, State: state}
}

// TestTheLastLookSeesWhatTheUploadsDidNot: a request that was thought lost may arrive while the other files are uploaded.
func TestTheLastLookSeesWhatTheUploadsDidNot(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change  func(r *fakeRemote, id string) // before the last list; id is that of the report
		kind    job.Kind                       // of the error, 0 for none
		text    string
		uploads int // of the report, in both calls
		stays   bool
	}{
		"a double that arrived late is removed": {
			change:  func(r *fakeRemote, _ string) { r.files["late"] = remoteReport("late", 30, RemoteComplete) },
			uploads: 1,
		},
		"a broken double is removed": {
			change:  func(r *fakeRemote, _ string) { r.files["late"] = remoteReport("late", 3, RemoteBroken) },
			uploads: 1,
		},
		"a file of another name stays": {
			change:  func(r *fakeRemote, _ string) { r.files["late"] = Remote{ID: "late", Name: "Report.html", Size: 30} },
			uploads: 1, stays: true,
		},
		"a file that is gone is uploaded again": {
			change: func(r *fakeRemote, id string) { delete(r.files, id) },
			kind:   job.KindRetryable, text: "report.html is missing from the folder of the run and will be uploaded again", uploads: 2,
		},
		"a file that broke is removed and uploaded again": {
			change: func(r *fakeRemote, id string) { r.files[id] = remoteReport(id, 30, RemoteBroken) },
			kind:   job.KindRetryable, text: "report.html is missing from the folder of the run and will be uploaded again", uploads: 2,
		},
		"a file that is not stored yet is waited for": {
			change: func(r *fakeRemote, id string) { r.files[id] = remoteReport(id, 30, RemoteArriving) },
			kind:   job.KindLater, text: "report.html is still being stored", uploads: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, artifacts := &changingRemote{fakeRemote: newFakeRemote()}, someArtifacts()
			u.before = map[int]func(){2: func() {
				for id, f := range u.files {
					if f.Name == "report.html" {
						tc.change(u.fakeRemote, id)
						return
					}
				}
				t.Error("the report was not uploaded before the last look")
			}}
			ids, err := u.deliver(t, artifacts)
			if tc.text != "" {
				require.ErrorContains(t, err, tc.text)
				kind, _ := job.Classify(err)
				require.Equal(t, tc.kind, kind)
				for id, f := range u.files { // what was still stored is complete now
					f.State = RemoteComplete
					u.files[id] = f
				}
				u.before = nil
				ids, err = u.deliver(t, artifacts)
			}
			require.NoError(t, err)
			if _, here := u.files["late"]; tc.stays {
				require.True(t, here, "what a user put there stays")
				delete(u.files, "late")
			}
			u.requireOneOfEach(t, artifacts, ids)
			require.Equal(t, tc.uploads, u.uploads["report.html"])
			require.Equal(t, 1, u.uploads["metrics.json"], "the other files are not sent again")
		})
	}
}

func TestAnotherSideThatRefusesIsNamedAndNothingIsSentBlindly(t *testing.T) {
	t.Parallel()
	down := job.Retryable(errors.New("503 Service Unavailable"))
	for name, tc := range map[string]struct {
		side    func(u *changingRemote)
		text    string
		uploads int
	}{
		"the first list fails": {
			func(u *changingRemote) { u.listErr = map[int]error{1: down} },
			"look for the file metrics.json: list the folder of the run: 503 Service Unavailable", 0,
		},
		"the last list fails": {
			func(u *changingRemote) { u.listErr = map[int]error{2: down} }, "list the folder of the run: 503 Service Unavailable", 3,
		},
		"a broken file cannot be removed": {
			func(u *changingRemote) {
				u.files["old"] = remoteReport("old", 7, RemoteBroken)
				u.remove = down
			}, "look for the file report.html: remove an incomplete or duplicate report.html: 503 Service Unavailable", 2,
		},
		"a double cannot be removed": {
			func(u *changingRemote) {
				u.before = map[int]func(){2: func() { u.files["late"] = remoteReport("late", 30, RemoteComplete) }}
				u.remove = down
			}, "remove an incomplete or duplicate report.html: 503 Service Unavailable", 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, artifacts := &changingRemote{fakeRemote: newFakeRemote()}, someArtifacts()
			tc.side(u)
			_, err := u.deliver(t, artifacts)
			require.EqualError(t, err, tc.text)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindRetryable, kind)
			require.Len(t, u.order, tc.uploads, "an unread folder may hold the file already")

			u.listErr, u.before, u.remove = nil, nil, nil
			ids, err := u.deliver(t, artifacts)
			require.NoError(t, err)
			u.requireOneOfEach(t, artifacts, ids)
			for file, n := range u.uploads {
				require.Equal(t, 1, n, file)
			}
		})
	}
}

func TestADeliveryOfNothingLooksAtItsFolderOnce(t *testing.T) {
	t.Parallel()
	u := &changingRemote{fakeRemote: newFakeRemote()}
	u.files["mine"] = Remote{ID: "mine", Name: "notes.txt", Size: 1}
	l, err := OpenLedger(nil, func(json.RawMessage) error { return errors.New("nothing to write") })
	require.NoError(t, err)
	ids, err := Deliver(t.Context(), l, u, nil)
	require.NoError(t, err)
	require.Empty(t, ids)
	require.Equal(t, 1, u.lists)
	require.Contains(t, u.files, "mine")
}

// TestAFileOfAnEarlierDeliveryIsNotForgotten: only files of this delivery are looked for.
func TestAFileOfAnEarlierDeliveryIsNotForgotten(t *testing.T) {
	t.Parallel()
	u, artifacts := &changingRemote{fakeRemote: newFakeRemote()}, someArtifacts()
	u.disk = json.RawMessage(`[{"kind":"file","name":"old.txt","sha256":"` + strings.Repeat("9", 64) + `","size":1,"state":"done","id":"gone"}]`)
	_, err := u.deliver(t, artifacts)
	require.NoError(t, err)
	l, err := OpenLedger(u.disk, u.save)
	require.NoError(t, err)
	require.Equal(t, "old.txt", l.Entries()[0].Name)
	require.Len(t, l.Entries(), 1+len(artifacts)+1)
}
