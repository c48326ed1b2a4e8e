//go:build integration

package studio

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/test/studio/site"
)

// The runs that site.Fill adds.
const (
	bestRun    = "ft-lr3e4dyy2gkf5pnmt3vc"
	runningRun = "ft-k3vr7now2ninghalfway"
)

// TestWhatTheRolesSee is check 3: who has no role gets the same page for a run of others and for one that never was, and a viewer has no
// button that changes anything.
func TestWhatTheRolesSee(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	dave := open(t, s, site.Dave, "runs/"+bestRun)
	foreign := dave.text("main")
	require.Contains(t, foreign, "Not found")
	dave.do(chromedp.Navigate(s.URL + "/runs/ft-whichneverwasatalltoday"))
	require.Equal(t, foreign, dave.text("main"))

	carol := open(t, s, site.Carol, "datasets/"+s.Dataset+"/runs")
	for _, page := range []string{"datasets/" + s.Dataset + "/runs", "runs/" + runningRun, "runs/" + bestRun} {
		carol.do(chromedp.Navigate(s.URL + "/" + page))
		buttons := carol.text("main")
		for _, word := range []string{"Train\n", "Stop and keep", "Cancel", "Retry", "Run again"} {
			require.NotContains(t, buttons, word, page)
		}
	}
	require.Contains(t, open(t, s, site.Alice, "runs/"+runningRun).text("main"), "Stop and keep", "the owner has them")
	answer, err := s.Login(t, site.Carol).PostForm(s.URL+"/runs/"+runningRun+"/cancel", url.Values{})
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusForbidden, answer.StatusCode, "by hand")
}

// TestEmptyPagesSayWhatToDo looks at pages without any run.
func TestEmptyPagesSayWhatToDo(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	for user, want := range map[string]string{
		site.Alice: "No run yet. Train a model on this dataset; no setting is needed.",
		site.Carol: "You may look at this dataset. To train on it, ask " + site.Alice + " for the role uploader.",
	} {
		require.Contains(t, open(t, s, user, "datasets/"+s.Empty+"/runs").text("main"), want)
	}
	b := open(t, s, site.Alice, "datasets/"+s.Empty+"/runs")
	b.do(chromedp.Click(chromedp.CSS(".empty .button")))
	b.until("document.querySelector('h1').innerText === 'Train on Letters'")
	require.Contains(t, open(t, s, site.Dave, "").text("main"), "You have no run yet.")
}

// TestRunsAreTickedAndCompared goes from the list to a comparison by the keyboard.
func TestRunsAreTickedAndCompared(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	s.Fill(t)
	b := open(t, s, site.Carol, "datasets/"+s.Dataset+"/runs")
	for _, run := range []string{bestRun, "ft-yigcyhzk4mhq2nof7l3a"} {
		b.do(chromedp.Focus(chromedp.CSS(`input[value="`+run+`"]`)), chromedp.SendKeys(chromedp.CSS(`input[value="`+run+`"]`), " "))
	}
	b.do(chromedp.SendKeys(chromedp.CSS("form .foot button"), "\r"), chromedp.WaitVisible(chromedp.CSS("table.compare")))
	require.Equal(t, "Compare 2 runs", b.text("h1"))
	require.Contains(t, b.text("main"), "All were tested on the same 1,821 rows.")
	require.Contains(t, b.text("main"), "worse, intervals overlap")
}
