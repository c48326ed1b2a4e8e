//go:build clowder1

package clowder1

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/stack"
)

// TestClowder1Page submits a dataset as a person does, on the page with the forms of all extractors, with a file to train on and a folder to test
// on, and photographs what the pages show then. v1 has no picker: names are typed.
func TestClowder1Page(t *testing.T) {
	r := newRig(t)
	s := r.serve(stack.RealRay())
	dataset, _ := r.dataset("Reviews of films")
	r.uploadBody(dataset, "spring.csv", stack.Reviews(t, "train.csv"), false)
	r.putBody(r.key, dataset, r.folder(r.key, dataset, "held"), "autumn.csv", stack.Reviews(t, "test.csv"))
	b := r.openTab()
	b.goTo("/datasets/" + dataset + "/extractions")
	b.until(`typeof $ === "function" && typeof $.fn.jsonForm === "function"`)
	for _, extractor := range []string{stack.Extractor, stack.Advanced, stack.Predictor, stack.Scripter, stack.Manager} {
		id := strings.ReplaceAll(extractor, ".", "_") + "_parameters"
		require.NotZero(t, get[int](b, fmt.Sprintf(`$("#%s .form-group, #%s .control-group").length`, id, id)), "the form of %s is drawn", extractor)
		require.NotEqual(t, "undefined", get[string](b, fmt.Sprintf(`typeof $("#%s").jsonFormValue()`, id)), "the form of %s has values", extractor)
	}
	form := "#" + strings.ReplaceAll(stack.Extractor, ".", "_") + "_parameters"
	b.do(chromedp.SetValue(form+` [name="data_file"]`, "spring.csv"), chromedp.SetValue(form+` [name="test_folder"]`, "held"))
	b.do(chromedp.SetValue(form+` [name="epochs"]`, "3"), chromedp.SetValue(form+` textarea[name="more_options"]`, "model: words\ntraining.seed: 7"))
	b.photograph("form", chromedp.Screenshot(fmt.Sprintf(`//tr[.//form[@id=%q]]`, form[1:])))
	b.click(fmt.Sprintf(`$(%q).closest("tr").find("button.btn-primary")`, form))
	page := "/datasets/" + dataset
	lines := r.awaitLine(page, "DONE", 1)
	require.Equal(t, 1, count(lines, "Results in folder finetune/"), "%q", lines)
	all := r.Records(t)
	require.Equal(t, job.Done, all[len(all)-1].State)
	typed := all[len(all)-1].Request.Parameters
	require.Equal(t, []string{"3", "model: words\ntraining.seed: 7"}, []string{fmt.Sprint(typed["epochs"]), strings.ReplaceAll(fmt.Sprint(typed["more_options"]), "\r", "")})
	var names []string
	for _, in := range r.inputs(all[len(all)-1]) {
		names = append(names, in.Name)
	}
	require.ElementsMatch(t, []string{"train.csv", "train (form)/spring.csv", "test (form, held)/autumn.csv"}, names)
	b.goTo(page)
	b.photograph("files", whole)
	b.click(`$("#metadata")`)
	b.until(`$("#tab-metadata.active").is(":visible")`)
	b.photograph("metadata", whole)
	b.click(`$("#extractions")`)
	for _, toggle := range []string{".extractor-accordion-toggle a", ".job-list-accordion-toggle a"} {
		b.until(fmt.Sprintf(`$("#tab-extractions %s").first().is(":visible")`, toggle))
		b.click(fmt.Sprintf(`$("#tab-extractions %s")`, toggle))
	}
	b.until(`$("#tab-extractions td:contains(DONE)").is(":visible") && $("#tab-extractions .collapsing").length === 0`)
	b.photograph("events", whole)
	for _, file := range r.rows(dataset) {
		shown := map[string]string{"model.zip": `.nav a:contains(Zip Content)`, "report.html": `.previewDiv:contains(Accuracy)`, "loss.png": `.previewDiv img`}[file.Filename]
		if shown != "" {
			b.goTo("/files/" + file.ID)
			b.until(fmt.Sprintf("$(%q).length > 0", shown))
			b.photograph(file.Filename, whole)
		}
	}
	require.NoError(t, s.Stop(30*time.Second))
}
