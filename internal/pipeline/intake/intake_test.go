package intake

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"github.com/ncsa/clowder-ray/internal/clowder/ability"
	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/pipeline/metrics"
	"github.com/ncsa/clowder-ray/internal/pipeline/slots"
	"github.com/ncsa/clowder-ray/internal/pipeline/status"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/platform/platformtest"
	"github.com/ncsa/clowder-ray/internal/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clowderDouble is where the messages of tests are from. It shows nothing of a job.
type clowderDouble struct{ origins }

func (clowderDouble) Abilities(req job.Request) ability.Set { return versions.Of(req.APIVersion).Set }

func (clowderDouble) Known(context.Context, job.Record) (platform.Known, error) {
	return platform.Known{Complete: true}, nil
}

// loopDouble remembers what it is to work on.
type loopDouble struct{ begun, kept, delayed []job.Record }

func (l *loopDouble) Keep(rec job.Record)  { l.kept = append(l.kept, rec) }
func (l *loopDouble) Begin(rec job.Record) { l.begun = append(l.begun, rec) }
func (l *loopDouble) Delay(rec job.Record) { l.delayed = append(l.delayed, rec) }
func (l *loopDouble) Has(run string) bool {
	return slices.ContainsFunc(l.begun, func(rec job.Record) bool { return rec.Run == run })
}

// statusesDouble remembers the statuses that were sent.
type statusesDouble struct {
	mu   sync.Mutex
	sent []message.Status
	last job.Request
}

func (d *statusesDouble) Publish(_ context.Context, req job.Request, s message.Status) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent, d.last = append(d.sent, s), req
	return nil
}

func newSlots() *slots.Slots {
	return slots.New(slots.Limits{Jobs: 4}, slots.Hooks{Wake: func(string) {}, Say: func(job.Record, string) {}, OnRay: func(int, int) {}})
}

// newIntakes returns intakes of all extractors on an empty store. Statuses go to publisher, which may be nil where none is sent.
func newIntakes(t *testing.T, publisher status.Publisher) *Intakes {
	t.Helper()
	store, source, extractors, log := openStore(t), clowderDouble{}, platformtest.Extractors(t), zaptest.NewLogger(t)
	return New(Config{
		Store: store, Loop: &loopDouble{}, Slots: newSlots(), Metrics: metrics.New(prometheus.NewRegistry()), Names: NewNames(source, store),
		Clowder: source, Extractors: extractors, Log: log,
		Statuses: status.NewMilestones(status.MilestonesConfig{
			Publisher: publisher, Platform: source, Records: store, Extractors: extractors, Page: func(job.Record) string { return "" },
			Wake: func(string) {}, Log: log,
		}),
	})
}

func TestTooManyWaitingJobsOfAUserAreRefused(t *testing.T) {
	t.Parallel()
	store, places := openStore(t), newSlots()
	refused := func(rec job.Record) error { return tooMany(t.Context(), store, places, rec) }
	alice, bob := jobtest.Record("ft-one", "h1"), job.New("ft-bob", job.Train, job.Request{}, "key of bob")
	manages := func(rec job.Record) job.Record { rec.Kind = job.Runs; return rec }
	for i := range maxWaiting + 3 {
		require.NoError(t, refused(alice))
		places.Active(job.Train).Add(strconv.Itoa(i), alice.Owner)
		if i < 3 {
			places.InProgress.Restore(strconv.Itoa(i), alice.Owner)
		}
	}
	err := refused(alice)
	require.EqualError(t, err, "you already have 1,000 jobs waiting: wait until some have ended or cancel some, then submit again")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
	require.NoError(t, refused(bob), "others are not touched")
	require.NoError(t, refused(manages(alice)), "who has too many must be able to cancel some")
	_, _, err = store.Accept(t.Context(), alice)
	require.NoError(t, err)
	require.NoError(t, refused(alice), "a job that is known is none too many")
	for i := range maxWaiting {
		places.Active(job.Runs).Add("request-"+strconv.Itoa(i), bob.Owner)
	}
	require.ErrorContains(t, refused(manages(bob)), "you already have 1,000 requests waiting")
}

func TestOfTheParametersOnlyThoseOfTheFormAreKept(t *testing.T) {
	t.Parallel()
	in := newIntakes(t, nil).Add(platformtest.Extractors(t)[0], nil, 2)
	body := fmt.Appendf(nil, `{"host":"http://c","secretKey":"k","job_id":%q,"id":%q,"datasetId":%[2]q,"parameters":{"epochs":"2","deep":[[[{"a":%q}]]]}}`,
		strings.Repeat("a", 24), strings.Repeat("d", 24), strings.Repeat("x", 10_000))
	req, _, err := in.decode(t.Context(), &queue.Delivery{Body: body})
	require.NoError(t, err)
	require.Equal(t, "2", req.Parameters["epochs"])
	stored, err := json.Marshal(req.Parameters)
	require.NoError(t, err)
	require.Less(t, len(stored), 200)
	whole, _, err := message.Decode(body, message.Properties{APIVersion: 2})
	require.NoError(t, err)
	require.Equal(t, whole.BodyHash, req.BodyHash, "a message that comes again is the same job")
}

func TestAMessageThatIsPublishedAgain(t *testing.T) {
	t.Parallel()
	ended := func(state job.State) func(*job.Record) {
		return func(r *job.Record) {
			r.Trimmed, r.Request.Parameters = true, nil
			r.End(state, "The parameters of this request are too large")
			_ = r.Close()
		}
	}
	for name, tc := range map[string]struct {
		arrange     func(*job.Record)
		redelivered bool
		begun       bool
		state       job.State
		parameters  any
		said        bool
	}{
		"a failed job is retried with what the message says":    {ended(job.Failed), false, true, job.Accepted, "2", false},
		"a failed job is not retried by a repeated delivery":    {ended(job.Failed), true, true, job.Failed, nil, false},
		"of another job that is over the last status is resent": {ended(job.Done), false, false, job.Done, nil, true},
		"a job that goes on is scheduled if it is not":          {func(*job.Record) {}, false, true, job.Accepted, 3.0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			intakes := newIntakes(t, nil)
			in := intakes.Add(platformtest.Extractors(t)[0], nil, 2)
			_, _, err := intakes.cfg.Store.Accept(t.Context(), jobtest.Record("ft-one", "h1"))
			require.NoError(t, err)
			rec, err := intakes.cfg.Store.Change(t.Context(), "ft-one", func(r *job.Record) error { tc.arrange(r); return nil })
			require.NoError(t, err)
			req := rec.Request
			req.Parameters = map[string]any{"epochs": "2"}
			require.NoError(t, in.repeated(t.Context(), tc.redelivered, rec, req, "key"))
			require.Equal(t, tc.begun, intakes.cfg.Loop.Has("ft-one"))
			require.Equal(t, tc.said, intakes.cfg.Statuses.EndQueued("ft-one"))
			rec, err = intakes.cfg.Store.Get(t.Context(), "ft-one")
			require.NoError(t, err)
			require.Equal(t, tc.state, rec.State)
			require.Equal(t, tc.parameters, rec.Request.Parameters["epochs"])
			require.Equal(t, tc.state.Terminal(), rec.Trimmed, "the message brings its parameters")
		})
	}
}

func TestALargeBurstIsSeveralRuns(t *testing.T) {
	t.Parallel()
	full := job.Record{State: job.Accepted, Request: job.Request{Announced: make([]job.Announced, maxAnnounced)}}
	one := job.Record{Request: job.Request{Announced: []job.Announced{{File: strings.Repeat("a", 24)}}}}
	require.ErrorIs(t, addAnnounced(&full, one), errBegun)
	full.Request.Announced = full.Request.Announced[1:]
	require.NoError(t, addAnnounced(&full, one))
	require.NoError(t, addAnnounced(&job.Record{State: job.Accepted}, one))
	require.ErrorIs(t, addAnnounced(&job.Record{State: job.Staged}, one), errBegun)
}
