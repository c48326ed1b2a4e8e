//go:build clowder2

package clowder2

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/browser"
	"github.com/ncsa/clowder-ray/test/stack"
)

// TestClowder2Page submits a dataset as a person does, on Clowder's page: with a file to train on that is picked, and a folder to test on that is
// typed. CLOWDER_PAGE in the file of RIG_ENV names the folder of the built page.
func TestClowder2Page(t *testing.T) {
	f := newRig(t)
	if f.env["CLOWDER_PAGE"] == "" {
		t.Skip("CLOWDER_PAGE names no folder of a built page")
	}
	s := f.serve(stack.RealRay())
	dataset, _ := f.dataset("Reviews of films")
	held, err := f.Session.AddFolder(t.Context(), dataset, "", "held")
	require.NoError(t, err)
	f.upload(dataset, "spring.csv", stack.Reviews(t, "train.csv"))
	f.uploadTo(dataset, held, "autumn.csv", stack.Reviews(t, "test.csv"))
	page, err := browser.ServeClowder2(f.env["CLOWDER_URL"], f.env["ALICE_KEY"], f.env["CLOWDER_PAGE"])
	require.NoError(t, err)
	t.Cleanup(page.Close)
	tab, stop, err := browser.Start(t.Context())
	require.NoError(t, err)
	t.Cleanup(stop)
	do(t, tab, chromedp.EmulateViewport(1000, 3500), chromedp.Navigate(page.URL+"/datasets/"+dataset),
		chromedp.Click(`//button[@role="tab"][contains(., "Analysis")]`),
		chromedp.Click(`//*[normalize-space(text())="`+stack.Extractor+`"]/ancestor::div[.//*[@data-testid="PlayCircleIcon"]][1]//button[.//*[@data-testid="PlayCircleIcon"]]`),
		chromedp.WaitVisible(behind("Test folder", "input")))
	pickFile(t, tab, "Training file", "spring.csv")
	do(t, tab, chromedp.SendKeys(behind("Test folder", "input"), "held"), chromedp.SendKeys(behind("More options", "textarea"), "model: words"))
	photograph(t, tab, "form", chromedp.Screenshot(`//div[@role="dialog"]//form`))
	before := len(f.Records(t))
	do(t, tab, chromedp.Click(`//div[@role="dialog"]//button[@type="submit"]`))
	record := f.AwaitRecords(t, before+1)[before]
	require.Equal(t, job.Done, record.State, record.LastError)
	require.Contains(t, f.inputs(record), `"name":"train (form)/spring.csv"`)
	require.Contains(t, f.inputs(record), `"name":"test (form, held)/autumn.csv"`)
	require.NoError(t, s.Stop(30*time.Second))
}

// pickFile picks a file of the dataset in a field of the form. The newer picker takes it with a second button.
func pickFile(t *testing.T, tab context.Context, field, name string) {
	t.Helper()
	do(t, tab, chromedp.Click(behind(field, "button")),
		chromedp.Click(fmt.Sprintf(`//h6[normalize-space(text())="File Selector"]/following::*[normalize-space(text())=%q]`, name)))
	newer, err := chromedp.Run(tab, chromedp.Evaluate[bool](`[...document.querySelectorAll("button")].some(b => b.textContent === "Select" && (b.click(), true))`))
	require.NoError(t, err)
	t.Logf("the newer picker: %t", newer)
	do(t, tab, chromedp.WaitNotPresent(`//h6[normalize-space(text())="File Selector"]`))
}

// behind selects the first element of a kind behind the title of a field of the form.
func behind(title, kind string) string {
	return fmt.Sprintf(`//div[@role="dialog"]//*[normalize-space(text())=%q]/following::%s[1]`, title, kind)
}

// do takes steps in the browser.
func do(t *testing.T, tab context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, stop := context.WithTimeout(tab, time.Minute)
	defer stop()
	err := chromedp.Do(ctx, steps...)
	if err != nil {
		photograph(t, tab, "failed", chromedp.CaptureScreenshot())
	}
	require.NoError(t, err)
}

// photograph writes a picture into the folder that PICTURES names.
func photograph(t *testing.T, tab context.Context, name string, picture chromedp.Action[[]byte]) {
	t.Helper()
	shot, err := chromedp.Run(tab, picture)
	require.NoError(t, err)
	folder := cmp.Or(os.Getenv("PICTURES"), t.TempDir())
	require.NoError(t, os.MkdirAll(folder, 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(folder, name+".png"), shot, 0o600))
}
