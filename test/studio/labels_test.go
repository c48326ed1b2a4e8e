//go:build integration

package studio

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform/clowder/label"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/test/studio/site"
)

// TestFilesAreLabelledByTheKeyboard goes from the page of a prediction through all files of its list: a class by its digit, back by undo, over one by
// skip, and another class by its name. The labels are in Clowder, where label_from reads them.
func TestFilesAreLabelledByTheKeyboard(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	files := s.AddBirds(t, "metadata.species")
	client, err := clowder.NewClient(clowder.Config{URL: s.Clowder.URL})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	labels := func() (found [3]string) {
		for i, file := range files {
			notes, err := client.As(job.Secret(s.Clowder.Key(site.Bob))).FileNotes(t.Context(), file)
			require.NoError(t, err)
			require.LessOrEqual(t, len(notes), 1, "no label is written twice")
			found[i], _ = label.In(notes, "species")
		}
		return found
	}
	at := func(b *tab, words string) {
		b.until(`document.readyState === "complete" && document.querySelector(".head p")?.innerText.startsWith("` + words + `")`)
	}

	b := open(t, s, site.Bob, "runs/"+site.Birds)
	b.watch()
	b.tabTo("Label")
	b.press("\r")
	at(b, "File 1 of 3")
	b.until(`document.querySelector(".label-item img")?.naturalWidth === 32`)
	b.press("2")
	at(b, "File 2 of 3")
	require.Equal(t, "a bird <b>sings</b>", b.text(".label-text"))
	require.Equal(t, [3]string{"robin"}, labels())
	b.press("u")
	at(b, "File 1 of 3")
	require.Equal(t, [3]string{}, labels())
	b.press("1")
	at(b, "File 2 of 3")
	b.press("s")
	at(b, "File 3 of 3")
	b.do(chromedp.Focus(chromedp.CSS("input[name=other]")))
	b.press("1 grey heron\r") // no digit is a key while somebody writes
	at(b, "3 files")
	require.Contains(t, b.text("main"), "2 of 3 files have a label.")
	require.Equal(t, [3]string{"wren", "", "1 grey heron"}, labels())
	require.Empty(t, get[[]string](b, "window.violations"))
	b.look(390, 800, "light")
	require.False(t, get[bool](b, "document.documentElement.scrollWidth > innerWidth"), "it fits a phone")
}

// TestSetsAreTickedByTheKeyboard labels a file with two of the labels, and one with none of them.
func TestSetsAreTickedByTheKeyboard(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	form := &results.LabelForm{Separator: ";", None: "(none)"}
	files := s.AddForm(t, "metadata.birds", form, results.FileAnswer{Predicted: "robin"}, "wren", "robin", "tern")
	client, err := clowder.NewClient(clowder.Config{URL: s.Clowder.URL})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	b := open(t, s, site.Bob, "runs/"+site.Birds+"/label")
	at := func(words string) {
		b.until(`document.readyState === "complete" && document.querySelector(".head p")?.innerText.startsWith("` + words + `")`)
	}
	at("File 1 of 3")
	b.do(chromedp.Focus(chromedp.CSS("input[type=checkbox]"))) // digits are keys there, too
	b.press("1")
	b.press("2")
	b.press("3")
	b.press("2")
	b.press("l")
	at("File 2 of 3")
	b.press("n")
	at("File 3 of 3")
	for i, want := range []string{"tern;wren", "(none)"} {
		notes, err := client.As(job.Secret(s.Clowder.Key(site.Bob))).FileNotes(t.Context(), files[i])
		require.NoError(t, err)
		found, _ := label.In(notes, "birds")
		require.Equal(t, want, found)
	}
	b.look(390, 800, "light")
	require.False(t, get[bool](b, "document.documentElement.scrollWidth > innerWidth"), "it fits a phone")
}
