//go:build integration

package studio

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/ports"
	"github.com/ncsa/clowder-ray/test/stack"
	"github.com/ncsa/clowder-ray/test/studio/site"
)

// whole starts the service with its studio, on the doubles of Clowder and Ray and a real RabbitMQ.
func whole(t *testing.T) (*stack.Fixture, *site.Site) {
	t.Helper()
	w := stack.NewFixture(t, stack.Program(t), map[string]string{"train.csv": "text,label\n" + strings.Repeat("a fine film,yes\na dull film,no\n", 40)})
	port, err := ports.Free(t.Context(), 1)
	require.NoError(t, err)
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port[0]))
	w.Start(t, map[string]string{"STUDIO_URL": "http://" + address, "STUDIO_LISTEN": address})
	return w, &site.Site{URL: "http://" + address, Clowder: w.Clowder, Dataset: w.Dataset}
}

// await waits until the page shows the words.
func (b *tab) await(words string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		if text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.querySelector("main").innerText`)); err != nil || strings.Contains(text, words) {
			return err == nil
		}
		b.do(chromedp.Reload()) // also without the bundled scripts
		return false
	}, stack.StepTimeout, time.Second, "the page does not show %q", words)
}

// reach waits until the address of the page has these words.
func (b *tab) reach(words string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool { // a look in the middle of a navigation fails
		at, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.readyState === "complete" ? location.href : ""`))
		return err == nil && strings.Contains(at, words)
	}, testTimeout, 100*time.Millisecond)
}

// records waits until the service has n jobs of which all fulfil a condition.
func records(t *testing.T, w *stack.Fixture, n int, ok func(job.Record) bool) []job.Record {
	t.Helper()
	var all []job.Record
	require.Eventually(t, func() bool {
		all = w.Records(t)
		for _, r := range all {
			if !ok(r) {
				return false
			}
		}
		return len(all) == n
	}, stack.StepTimeout, 200*time.Millisecond)
	return all
}

// TestPeopleTrainStopAndRetryFromTheStudio is check 5, with the beginning of check 4: a double click on Train makes one job, its page is there
// at once, and stop, cancel and retry say the same in the studio and in Clowder, once.
func TestPeopleTrainStopAndRetryFromTheStudio(t *testing.T) {
	t.Parallel()
	w, s := whole(t)
	release := w.HoldTrainings()
	defer release()
	b := open(t, s, stack.User, "datasets/"+s.Dataset+"/train")
	const twice = `(() => { const f = document.querySelector("form.settings"); const send = () => fetch(location, {method: "POST", body: new URLSearchParams(new FormData(f)), redirect: "manual"}); return Promise.all([send(), send()]).then(() => true); })()`
	_, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](twice, chromedp.EvalAwaitPromise))
	require.NoError(t, err)
	b.do(chromedp.Click(chromedp.CSS("form.settings button")))
	b.reach("/runs/ft-")
	run := records(t, w, 1, func(r job.Record) bool { return r.State == job.Running })[0]
	require.Contains(t, get[string](b, "location.pathname"), run.Run)

	b.await("running")
	b.do(chromedp.Click(chromedp.CSS(`button[popovertarget="cancel"]`)), chromedp.WaitVisible(chromedp.CSS("#cancel .danger")), chromedp.Click(chromedp.CSS("#cancel .danger")))
	b.reach("did=cancel")
	require.Contains(t, b.text("main"), "The run is being cancelled.")
	b.await("cancelled")
	run = records(t, w, 1, func(r job.Record) bool { return r.State == job.Cancelled })[0]
	b.await(run.Ending.Text)
	_, said := w.AwaitJob(t, run.Request.JobID)
	require.Equal(t, 1, count(said, run.Ending.Text), "Clowder shows the same sentence once")

	b.do(chromedp.Click(`//button[text()="Retry"]`))
	b.reach("did=retry")
	b.await("running")
	records(t, w, 2, func(r job.Record) bool { return r.Run != run.Run || r.State == job.Running })
}

func count[T any](said []T, words string) (n int) {
	for _, s := range said {
		if strings.Contains(fmt.Sprint(s), words) {
			n++
		}
	}
	return n
}
