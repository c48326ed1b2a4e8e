//go:build integration

package studio

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/test/studio/site"
)

// took waits until an expression is true in the page, and returns how long that took.
func (b *tab) took(expression string) time.Duration {
	b.t.Helper()
	began := time.Now()
	b.until("Boolean(" + expression + ")")
	return time.Since(began)
}

// step is a progress event of a training of 1,000 steps.
func step(n int, loss float64) string {
	return fmt.Sprintf(`{"time":%q,"attempt":1,"kind":"progress","epoch":3,"epochs":3,"step":%d,"steps":1000,"fraction":%g,"loss":%g,"eta_seconds":30}`+"\n",
		time.Now().UTC().Format(time.RFC3339Nano), n, float64(n)/1000, loss)
}

const (
	lossPicture = `document.querySelector('.live-chart .live-picture')?.getAttribute('aria-label')`
	logBox      = `document.querySelector('[data-live=log] pre')`
)

// TestARunIsFollowed is the page of a run that trains: progress, curves and log grow without a load of the page, also over a restart of the
// service, and at the end the page says so.
func TestARunIsFollowed(t *testing.T) {
	t.Parallel()
	const run = "ft-k3vr7now2ninghalfway"
	s := site.New(t, site.Options{})
	s.Add(t, site.Run{ID: run, Name: "longer texts", State: job.Running, Fraction: 0.6})
	b := open(t, s, site.Alice, "runs/"+run)
	b.until(`document.querySelectorAll('.live-chart canvas').length === 2`)
	b.until(logBox + `.textContent.includes('Training on 6920 rows')`)
	get[int](b, "window.loadedOnce = 1")

	s.Append(t, run, results.EventsFile, step(700, 0.111))
	took := b.took(lossPicture + `.includes('to 0.111')`)
	t.Logf("from the volume to the page: %s", took)
	b.until(`document.querySelector('[data-live=sentence]').textContent.startsWith('Epoch 3 of 3, 70 %')`)
	b.until(`document.querySelector('[data-live=bar] progress').value === 70`)

	t.Run("the log follows while the reader is at its end", func(t *testing.T) {
		b := *b
		b.t = t
		var many strings.Builder
		for i := range 200 {
			fmt.Fprintf(&many, "line %d\n", i)
		}
		s.Append(t, run, results.LogFile, many.String()+"the newest line \x1b[31m<b>bold</b>\n")
		b.until(logBox + `.textContent.includes('the newest line [31m<b>bold</b>')`)
		b.until(logBox + `.scrollTop > 0 && ` + logBox + `.scrollTop + ` + logBox + `.clientHeight >= ` + logBox + `.scrollHeight - 8`)
		get[int](&b, logBox+`.scrollTop = 5`)
		s.Append(t, run, results.LogFile, "one more\n")
		b.until(logBox + `.textContent.includes('one more')`)
		require.Equal(t, 5, get[int](&b, logBox+`.scrollTop`))
		b.until(`!document.querySelector('[data-live=log] button').hidden`)
	})

	points := get[int](b, countPoints)
	s.Restart(t)
	s.Append(t, run, results.EventsFile, step(800, 0.105)+step(801, 0.104))
	took = b.took(lossPicture + `.includes('to 0.104')`)
	t.Logf("after a restart of the service: %s", took)
	require.Less(t, took, 12*time.Second)
	require.Equal(t, points+2, get[int](b, countPoints), "no point twice, none missing")
	b.until(`document.querySelector('.live-lost').hidden`)

	_, err := s.Store.Change(t.Context(), run, func(r *job.Record) error {
		r.End(job.Failed, "the disk of the cluster is full")
		return r.Close()
	})
	require.NoError(t, err)
	b.until(`document.querySelector('[data-live=state]').textContent.includes('failed')`)
	b.until(`document.querySelector('main').textContent.includes('The disk of the cluster is full')`)
	require.Equal(t, 1, get[int](b, "window.loadedOnce"), "the page was never loaded again")
	require.Equal(t, 2, get[int](b, `document.querySelectorAll('.live-chart canvas').length`))
	require.Contains(t, get[string](b, logBox+".textContent"), "one more")
}

// countPoints is how many points the lines of the first chart have.
const countPoints = `Number(document.querySelector('.live-chart').dataset.points)`

// heldStream is a script that opens the stream of a page only when release is called.
const heldStream = `const Stream = window.EventSource;
window.EventSource = class {
	constructor(address) {
		this.listeners = [];
		this.close = () => {};
		window.release = () => {
			const stream = new Stream(address);
			this.listeners.forEach((l) => stream.addEventListener(...l));
			this.close = () => stream.close();
		};
	}
	addEventListener(...l) { this.listeners.push(l); }
};`

// TestAPageThatIsOlderThanItsStreamIsLoadedAgain has a page that was made when the end was decided, but the job was not over. Its stream
// begins after that.
func TestAPageThatIsOlderThanItsStreamIsLoadedAgain(t *testing.T) {
	t.Parallel()
	const run = "ft-k3vr7now2ninghalfway"
	s := site.New(t, site.Options{})
	s.Add(t, site.Run{ID: run, State: job.Running, Fraction: 0.6})
	change := func(f func(*job.Record) error) {
		_, err := s.Store.Change(t.Context(), run, f)
		require.NoError(t, err)
	}
	change(func(r *job.Record) error {
		r.End(job.Failed, "the disk of the cluster is full")
		return nil
	})
	b := open(t, s, site.Alice, "")
	b.prepend(heldStream)
	b.do(chromedp.Navigate(s.URL + "/runs/" + run))
	b.until(`window.release !== undefined`)
	const retry = `[...document.querySelectorAll('button')].some(b => b.innerText === 'Retry')`
	require.False(t, get[bool](b, retry))
	change((*job.Record).Close)
	get[int](b, `(release(), 1)`)
	b.until(retry)
}

// TestAPageSaysThatItIsNotLive is what a page does while the service is away.
func TestAPageSaysThatItIsNotLive(t *testing.T) {
	t.Parallel()
	const run = "ft-k3vr7now2ninghalfway"
	s := site.New(t, site.Options{Prefix: "/studio"})
	s.Add(t, site.Run{ID: run, State: job.Running, Fraction: 0.6})
	b := open(t, s, site.Alice, "runs/"+run)
	b.until(`document.querySelectorAll('.live-chart canvas').length === 2`)
	s.Down()
	b.until(`document.querySelector('.live-lost')?.textContent.startsWith('Not live: trying again in')`)
	s.Up(t)
	s.Append(t, run, results.EventsFile, step(700, 0.111))
	b.until(lossPicture + `.includes('to 0.111')`)
	b.until(`document.querySelector('.live-lost').hidden`)
}

// TestCurvesAreZoomedAndMeasuredAgainstTheChampion zooms with the keys and with the pointer, and finds the champion of the model in the chart of
// its metric, with its newest value in the legend.
func TestCurvesAreZoomedAndMeasuredAgainstTheChampion(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	b := open(t, s, site.Alice, "runs/"+running)
	b.until(`document.querySelectorAll('.live-chart canvas').length === 2`)
	b.until(`[...document.querySelectorAll('.live-chart')].some(c => /Validation accuracy/.test(c.innerText) && /champion reviews\/3\s*0.864/.test(c.innerText))`)

	const all = `[...document.querySelector('.live-chart .live-tools').children].find(b => b.innerText === 'Show all' && !b.hidden)`
	require.True(t, get[bool](b, all+` === undefined`))
	get[int](b, `(document.querySelector('.live-chart .live-picture').focus(), 1)`)
	b.do(chromedp.KeyEvent("+"))
	b.until(all + ` !== undefined`)
	b.do(chromedp.KeyEvent("0"))
	b.until(all + ` === undefined`)

	drag := func(kind string, x int) string {
		return fmt.Sprintf(`(() => { const o = document.querySelector('.live-chart .u-over'), r = o.getBoundingClientRect();
			(%[1]q === 'mousedown' ? o : document).dispatchEvent(new MouseEvent(%[1]q, {bubbles: true, button: 0, movementX: 5, clientX: r.left + %[2]d, clientY: r.top + 50}));
			if (%[1]q === 'mousemove') { o.dispatchEvent(new MouseEvent(%[1]q, {bubbles: true, button: 0, movementX: 5, clientX: r.left + %[2]d, clientY: r.top + 50})); } return 1 })()`, kind, x)
	}
	get[int](b, drag("mousemove", 40))
	get[int](b, drag("mousedown", 40))
	get[int](b, drag("mousemove", 140))
	get[int](b, drag("mouseup", 140))
	b.until(all + ` !== undefined`)
	get[int](b, `(`+all+`.click(), 1)`)
	b.until(all + ` === undefined`)
	require.Equal(t, "live-picture", get[string](b, `document.activeElement.className`))
}
