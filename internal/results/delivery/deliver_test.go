package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

// errKilled is what every call answers after the simulated death of the service.
var errKilled = errors.New("the service is dead")

// fakeRemote is what survives a death: the files on the other side and the ledger on disk. Every call on it passes two points, one
// before and one after its effect. At the one that the test names the service dies: no later call has an effect.
type fakeRemote struct {
	atOnce int

	mu      sync.Mutex
	files   map[string]Remote
	order   []string
	uploads map[string]int
	cards   int // charts that the other side shows, made beside the uploads
	disk    json.RawMessage

	points []string // passed so far in this life
	dieAt  int      // index into points, -1 for never
	died   string   // the point of the death
	// fault may replace the outcome of an upload; it gets the effect to call or to leave out.
	fault func(a Artifact, effect func() string) (string, error)
}

func newFakeRemote() *fakeRemote {
	return &fakeRemote{atOnce: 1, files: map[string]Remote{}, uploads: map[string]int{}, dieAt: -1}
}

// point is passed with the lock held.
func (r *fakeRemote) point(name string) error {
	if r.died == "" {
		r.points = append(r.points, name)
		if len(r.points)-1 == r.dieAt {
			r.died = name
		}
	}
	if r.died != "" {
		return errKilled
	}
	return nil
}

// between passes the points before and after an effect, which another call can follow at once.
func (r *fakeRemote) between(name string, effect func()) error {
	r.mu.Lock()
	err := r.point("before " + name)
	if err == nil {
		effect()
	}
	r.mu.Unlock()
	if err != nil {
		return err
	}
	runtime.Gosched()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.point("after " + name)
}

func (r *fakeRemote) List(context.Context) (list []Remote, err error) {
	err = r.between("list", func() {
		list = slices.SortedFunc(maps.Values(r.files), func(a, b Remote) int { return strings.Compare(b.ID, a.ID) })
	})
	return list, err
}

func (r *fakeRemote) Upload(_ context.Context, a Artifact) (id string, err error) {
	effect := func() string {
		r.uploads[a.Name]++
		id := fmt.Sprintf("id%02d", len(r.order))
		r.order = append(r.order, a.Name)
		r.files[id] = Remote{ID: id, Name: a.Name, Size: a.Size}
		return id
	}
	if r.fault != nil {
		return r.fault(a, effect)
	}
	err = r.between("upload of "+a.Name, func() { id = effect() })
	return id, err
}

func (r *fakeRemote) Remove(_ context.Context, id string) error {
	return r.between("removal", func() { delete(r.files, id) })
}

// card is a chart that the other side shows, an effect beside the uploads.
func (r *fakeRemote) card() Step {
	return Step{
		Kind: KindVisualization, Name: "loss_curve.vl.json", Size: 15,
		Look: func(context.Context, Entry) (string, bool, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			return "card", r.cards > 0, nil
		},
		Do: func(context.Context) (string, error) { return "card", r.between("card", func() { r.cards++ }) },
	}
}

func (r *fakeRemote) save(doc json.RawMessage) error {
	return r.between("save", func() { r.disk = slices.Clone(doc) })
}

// life delivers once from what is on disk and reports where it died.
func (r *fakeRemote) life(t *testing.T, artifacts []Artifact, dieAt int) (ids map[string]string, died string, err error) {
	t.Helper()
	r.points, r.dieAt, r.died = nil, dieAt, ""
	l, err := OpenLedger(r.disk, r.save)
	require.NoError(t, err)
	l.atOnce = r.atOnce
	ids, err = Deliver(t.Context(), l, r, artifacts, r.card())
	if err == nil {
		var notes json.RawMessage
		notes, err = l.Encode()
		require.NoError(t, err)
		err = r.save(notes)
	}
	if r.died != "" {
		return nil, r.died, nil
	}
	return ids, "", err
}

// requireOneOfEach checks the promise: one complete file of each name, known to the ledger by its id.
func (r *fakeRemote) requireOneOfEach(t *testing.T, artifacts []Artifact, ids map[string]string) {
	t.Helper()
	require.Len(t, r.files, len(artifacts))
	for _, a := range artifacts {
		require.Equal(t, Remote{ID: ids[a.Name], Name: a.Name, Size: a.Size}, r.files[ids[a.Name]])
	}
	l, err := OpenLedger(r.disk, r.save)
	require.NoError(t, err)
	for _, e := range l.Entries() {
		require.Equal(t, StateDone, e.State, e.Name)
		if e.Kind == KindFile {
			require.Equal(t, ids[e.Name], e.ID)
		}
	}
	require.Equal(t, 1, r.cards, "one chart")
}

func someArtifacts() []Artifact {
	return []Artifact{
		{Name: "metrics.json", Size: 10, SHA256: strings.Repeat("1", 64)},
		{Name: "plots/loss.png", Size: 20, SHA256: strings.Repeat("2", 64)},
		{Name: "report.html", Size: 30, SHA256: strings.Repeat("3", 64)},
	}
}

func TestDeliverSurvivesADeathAtEveryPoint(t *testing.T) {
	t.Parallel()
	artifacts := someArtifacts()
	for _, atOnce := range []int{1, len(artifacts) + 1} {
		clean := newFakeRemote()
		clean.atOnce = atOnce
		ids, _, err := clean.life(t, artifacts, -1)
		require.NoError(t, err)
		clean.requireOneOfEach(t, artifacts, ids)
		if atOnce == 1 {
			require.Equal(t, []string{"metrics.json", "plots/loss.png", "report.html"}, clean.order, "small ones first")
		}
		points := len(clean.points)
		require.Equal(t, 2+len(artifacts)*4+4+2+2, points)

		for i := range points {
			for j := -1; j < points; j++ { // and a second death while it recovers
				t.Run(fmt.Sprintf("%d at once, death at %d then %d", atOnce, i, j), func(t *testing.T) {
					t.Parallel()
					r := newFakeRemote()
					r.atOnce = atOnce
					_, died, _ := r.life(t, artifacts, i)
					require.NotEmpty(t, died)
					if j >= 0 {
						_, _, err := r.life(t, artifacts, j)
						require.NoError(t, err)
					}
					ids, died, err := r.life(t, artifacts, -1)
					require.NoError(t, err)
					require.Empty(t, died)
					r.requireOneOfEach(t, artifacts, ids)
					for name, n := range r.uploads {
						require.Equal(t, 1, n, name)
					}
				})
			}
		}
	}
}

func TestUploadsOverlapUpToALimit(t *testing.T) {
	t.Parallel()
	var artifacts []Artifact
	for i := range 2 * atOnce {
		artifacts = append(artifacts, Artifact{Name: fmt.Sprintf("%02d", i), Size: int64(i), SHA256: strings.Repeat("1", 64)})
	}
	var begun, underWay, most atomic.Int64
	var batches [2]sync.WaitGroup // an upload ends when as many as may overlap have begun
	for i := range batches {
		batches[i].Add(atOnce)
	}
	r := newFakeRemote()
	r.atOnce = atOnce
	r.fault = func(_ Artifact, effect func() string) (string, error) {
		batch := &batches[(begun.Add(1)-1)/atOnce]
		most.Store(max(most.Load(), underWay.Add(1)))
		defer underWay.Add(-1)
		batch.Done()
		batch.Wait()
		r.mu.Lock()
		defer r.mu.Unlock()
		return effect(), nil
	}
	ids, _, err := r.life(t, artifacts, -1)
	require.NoError(t, err)
	require.EqualValues(t, atOnce, most.Load())
	r.requireOneOfEach(t, artifacts, ids)
}

func TestAfterAFailureNothingNewIsBegun(t *testing.T) {
	t.Parallel()
	r := newFakeRemote()
	r.fault = func(a Artifact, effect func() string) (string, error) {
		if a.Name == "plots/loss.png" {
			return "", job.Retryable(errors.New("503"))
		}
		return effect(), nil
	}
	_, _, err := r.life(t, someArtifacts(), -1)
	require.ErrorContains(t, err, "plots/loss.png: 503")
	require.Equal(t, []string{"metrics.json"}, r.order)
}

func TestDeliverWithABadOtherSide(t *testing.T) {
	t.Parallel()
	artifacts := someArtifacts()
	lost := errors.New("the answer was lost")
	for name, tc := range map[string]struct {
		before func(r *fakeRemote)
		fault  func(n int, effect func() string) (string, error) // n counts the uploads of report.html from 1
		errs   []job.Kind                                        // of the calls before the good one
		// uploads of report.html that took effect
		uploads int
	}{
		"an error before the effect is repeated": {
			fault: func(n int, effect func() string) (string, error) {
				if n == 1 {
					return "", job.Retryable(errors.New("503"))
				}
				return effect(), nil
			}, errs: []job.Kind{job.KindRetryable}, uploads: 1,
		},
		"a 500 after the effect is adopted at once": {
			fault: func(_ int, effect func() string) (string, error) { effect(); return "", job.Unknown(lost) }, uploads: 1,
		},
		"a hang after the effect is adopted at once": {
			fault: func(_ int, effect func() string) (string, error) {
				effect()
				return "", job.Unknown(context.DeadlineExceeded)
			}, uploads: 1,
		},
		"a lost request is repeated in a later call only": {
			fault: func(n int, effect func() string) (string, error) {
				if n == 1 {
					return "", job.Unknown(lost)
				}
				return effect(), nil
			}, errs: []job.Kind{job.KindUnknown}, uploads: 1,
		},
		"a request that arrives late beside its repetition is cleared away": {
			fault: func(n int, effect func() string) (string, error) {
				if n == 1 {
					return "", job.Unknown(lost)
				}
				effect()
				return effect(), nil
			}, errs: []job.Kind{job.KindUnknown}, uploads: 2,
		},
		"an error after the effect that says nothing happened is found by the next look": {
			fault: func(_ int, effect func() string) (string, error) {
				effect()
				return "", job.Retryable(errors.New("502"))
			}, errs: []job.Kind{job.KindRetryable}, uploads: 1,
		},
		"a file that is there already is adopted": {
			before: func(r *fakeRemote) { r.files["x"] = Remote{ID: "x", Name: "report.html", Size: 30} }, uploads: 0,
		},
		"of two there already one is kept": {
			before: func(r *fakeRemote) {
				r.files["x"] = Remote{ID: "x", Name: "report.html", Size: 30}
				r.files["y"] = Remote{ID: "y", Name: "report.html", Size: 30}
			}, uploads: 0,
		},
		"a broken file is replaced": {
			before: func(r *fakeRemote) {
				r.files["x"] = Remote{ID: "x", Name: "report.html", Size: 30, State: RemoteBroken}
			}, uploads: 1,
		},
		"a file of another size is replaced": {
			before: func(r *fakeRemote) { r.files["x"] = Remote{ID: "x", Name: "report.html", Size: 29} }, uploads: 1,
		},
		"an earlier attempt's file of the same size is replaced": {
			before: func(r *fakeRemote) {
				r.files["x"] = Remote{ID: "x", Name: "report.html", Size: 30}
				r.disk = json.RawMessage(`[{"kind":"file","name":"report.html","sha256":"old","size":30,"state":"done","id":"x"}]`)
			}, uploads: 1,
		},
		"a file that vanished after it was delivered is uploaded again": {
			before: func(r *fakeRemote) {
				r.disk = json.RawMessage(`[{"kind":"file","name":"report.html","sha256":"` + strings.Repeat("3", 64) + `","size":30,"state":"done","id":"gone"}]`)
			}, errs: []job.Kind{job.KindRetryable}, uploads: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newFakeRemote()
			if tc.before != nil {
				tc.before(r)
			}
			n := 0
			r.fault = func(a Artifact, effect func() string) (string, error) {
				if a.Name != "report.html" || tc.fault == nil {
					return effect(), nil
				}
				n++
				return tc.fault(n, effect)
			}
			for _, want := range tc.errs {
				_, _, err := r.life(t, artifacts, -1)
				require.Error(t, err)
				kind, _ := job.Classify(err)
				require.Equal(t, want, kind)
			}
			ids, _, err := r.life(t, artifacts, -1)
			require.NoError(t, err)
			r.requireOneOfEach(t, artifacts, ids)
			require.Equal(t, tc.uploads, r.uploads["report.html"])
		})
	}
}

func TestDeliverWaitsForAFileThatIsStillArriving(t *testing.T) {
	t.Parallel()
	r := newFakeRemote()
	r.files["x"] = Remote{ID: "x", Name: "report.html", State: RemoteArriving}
	_, _, err := r.life(t, someArtifacts(), -1)
	kind, after := job.Classify(err)
	require.Equal(t, job.KindLater, kind)
	require.Equal(t, arrival, after)
	r.files["x"] = Remote{ID: "x", Name: "report.html", Size: 30}
	ids, _, err := r.life(t, someArtifacts(), -1)
	require.NoError(t, err)
	r.requireOneOfEach(t, someArtifacts(), ids)
	require.Zero(t, r.uploads["report.html"])
}

func TestDeliverLeavesAUsersFileAlone(t *testing.T) {
	t.Parallel()
	r := newFakeRemote()
	r.files["mine"] = Remote{ID: "mine", Name: "notes.txt", Size: 1}
	_, _, err := r.life(t, someArtifacts(), -1)
	require.NoError(t, err)
	require.Contains(t, r.files, "mine")
}
