//go:build integration

package studio

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/answer/answertest"
	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/test/studio/site"
)

// shown is a site with a model for texts in two versions, one for images and one for tables, all trained.
type shown struct {
	*site.Site
	texts, images, table answertest.Trained
	lines                []string
	pictures             map[string][]byte
	rows                 [][]string
}

func withModels(t *testing.T) *shown {
	t.Helper()
	python, volume := answertest.Python(t), t.TempDir()
	trained := answertest.On(t, python, volume)
	m := &shown{Site: site.New(t, site.Options{Volume: volume, Python: python, Trainer: trained.Trainer}), pictures: map[string][]byte{}}
	of := registry.Dataset{Clowder: m.Clowder.URL, ID: m.Dataset}

	doc, err := os.ReadFile(filepath.Join("..", "dataset", "reviews", "train.csv"))
	require.NoError(t, err)
	lines, err := csv.NewReader(bytes.NewReader(doc)).ReadAll()
	require.NoError(t, err)
	for _, line := range lines {
		m.lines = append(m.lines, line[1])
	}
	m.texts = trained.Train(t, of, "reviews", "ft-texts", map[string][]byte{"train.csv": doc}, map[string]any{"model": "words"})
	trained.Train(t, of, "reviews", "ft-texts-2", map[string][]byte{"train.csv": doc}, map[string]any{"model": "words", "seed": 7})
	_, err = trained.Registry.Promote(of, "reviews", 1)
	require.NoError(t, err)

	for i := range 40 {
		m.pictures[fmt.Sprintf("%s/%02d.png", []string{"left", "right"}[i%2], i)] = picture(t, i)
	}
	m.images = trained.Train(t, of, "pictures", "ft-images", m.pictures, map[string]any{"epochs": 1})

	var table strings.Builder
	table.WriteString("size,colour,kind\n")
	m.rows = [][]string{{"size", "colour", "kind"}}
	for i := range 120 {
		row := []string{strconv.Itoa(i%7 + 10*(i%2)), []string{"red", "blue"}[i%2], []string{"a", "b"}[i%2]}
		m.rows = append(m.rows, row)
		table.WriteString(strings.Join(row, ",") + "\n")
	}
	m.table = trained.Train(t, of, "rows", "ft-table", map[string][]byte{"rows.csv": []byte(table.String())}, map[string]any{})
	return m
}

// picture is bright at the left or at the right.
func picture(t *testing.T, i int) []byte {
	t.Helper()
	p := image.NewRGBA(image.Rect(0, 0, 24, 24))
	for x := range 24 {
		for y := range 24 {
			light := uint8((x*i + y) % 80)
			if x < 12 == (i%2 == 0) {
				light += 120
			}
			p.Set(x, y, color.RGBA{light, light, light, 255})
		}
	}
	var doc bytes.Buffer
	require.NoError(t, png.Encode(&doc, p))
	return doc.Bytes()
}

// ask is a request of a program with the key of a user.
func (m *shown) ask(t *testing.T, user, path string, body any) (status int, header http.Header, found map[string]any) {
	t.Helper()
	doc, err := json.Marshal(body)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.URL+path, bytes.NewReader(doc))
	require.NoError(t, err)
	req.Header.Set("X-API-KEY", m.Clowder.Key(user))
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	content, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, &found), "%s", content)
	return resp.StatusCode, resp.Header, found
}

const answered = `(document.querySelector(".answer .figure, .answer .value, .answer .failed")?.innerText ?? "")`

// polled waits until an expression is true in the page.
func (b *tab) polled(expression string) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, testTimeout)
	defer stop()
	_, err := chromedp.Run(ctx, chromedp.Poll[bool](expression))
	require.NoError(b.t, err, expression)
}

// percent is how sure the page says that the model is of its first label.
func (b *tab) percent() float64 {
	b.t.Helper()
	text := strings.NewReplacer("%", "", "\u00a0", "", " ", "").Replace(get[string](b, answered))
	value, err := strconv.ParseFloat(text, 64)
	require.NoError(b.t, err, text)
	return value / 100
}

// TestModels trains models and shows them in the browser.
func TestModels(t *testing.T) {
	m := withModels(t)
	t.Run("pages", func(t *testing.T) { modelPages(t, m) })
	t.Run("try it", func(t *testing.T) { tryIt(t, m) })
	t.Run("promote", func(t *testing.T) { promote(t, m) })
}

// tryIt asks each kind of model in the browser, and compares the answers with predictions.csv of its training.
func tryIt(t *testing.T, m *shown) {
	t.Helper()
	check := func(b *tab, row map[string]string) {
		t.Helper()
		b.polled(answered + `.length > 0`)
		require.Equal(t, row["predicted"], strings.TrimPrefix(b.text(".answer .label"), "Unsure: "))
		want, err := strconv.ParseFloat(row["confidence"], 64)
		require.NoError(t, err)
		require.InDelta(t, want, b.percent(), 1e-3)
		get[bool](b, `(document.querySelector(".answer").replaceChildren(), true)`)
	}
	page := func(name string) string { return "models/" + m.Dataset + "/" + name }

	t.Run("a text", func(t *testing.T) {
		b := open(t, m.Site, site.Carol, page("reviews"))
		for _, row := range m.texts.Rows[:3] {
			line, err := strconv.Atoi(row["row"])
			require.NoError(t, err)
			b.do(chromedp.SetValue("textarea", m.lines[line-1]), chromedp.Click("form .primary"))
			check(b, row)
		}
	})
	t.Run("an image by the keyboard", func(t *testing.T) {
		b := open(t, m.Site, site.Carol, page("pictures"))
		row := m.images.Rows[0]
		file := filepath.Join(t.TempDir(), "picture.png")
		require.NoError(t, os.WriteFile(file, m.pictures[row["file"]], 0o600))
		b.do(chromedp.SetUploadFiles("input[type=file]", []string{file}), chromedp.Focus("form .primary"), chromedp.KeyEvent("\r"))
		check(b, row)
		require.False(t, get[bool](b, `document.querySelector(".preview").hidden`))
	})
	t.Run("an image by drop", func(t *testing.T) {
		b := open(t, m.Site, site.Carol, page("pictures"))
		row := m.images.Rows[1]
		get[bool](b, `(() => {
			const bytes = Uint8Array.from(atob("`+base64.StdEncoding.EncodeToString(m.pictures[row["file"]])+`"), (c) => c.charCodeAt(0));
			const data = new DataTransfer();
			data.items.add(new File([bytes], "a.png", { type: "image/png" }));
			document.querySelector(".drop").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
			return true;
		})()`)
		check(b, row)
	})
	t.Run("a row of a table", func(t *testing.T) {
		b := open(t, m.Site, site.Carol, page("rows"))
		for _, row := range m.table.Rows[:2] {
			line, err := strconv.Atoi(row["row"])
			require.NoError(t, err)
			cells := m.rows[line-1]
			for i, column := range m.rows[0][:2] {
				if !slices.Contains(inputs(b), column) {
					continue // a column that says nothing
				}
				b.do(chromedp.SetValue(`[data-column="`+column+`"]`, cells[i]))
			}
			b.do(chromedp.Click("form .primary"))
			check(b, row)
		}
	})
	t.Run("test rows fill the form", func(t *testing.T) {
		for _, name := range []string{"reviews", "rows"} {
			b := open(t, m.Site, site.Carol, page(name))
			b.do(chromedp.Click("[data-example]"))
			b.polled(answered + `.length > 0`)
			given := get[map[string]string](b, `JSON.parse(document.querySelector("[data-example]").dataset.example)`)
			require.NotEmpty(t, given)
			for column, value := range given {
				require.Equal(t, value, get[string](b, `document.querySelector('[data-column="`+column+`"]').value`))
			}
			require.Regexp(t, `^The model says `+b.text(".answer .label"), get[string](b, `document.querySelector("[data-example]").title`))
		}
	})
	t.Run("a test image is asked about", func(t *testing.T) {
		b := open(t, m.Site, site.Bob, page("pictures"))
		b.do(chromedp.Click(".examples a"))
		b.until(answered + `.length > 0`) // in the page that the link leads to
		require.True(t, get[bool](b, `document.querySelector(".preview").naturalWidth === 24`))
		require.Regexp(t, `^The model says `+strings.TrimPrefix(b.text(".answer .label"), "Unsure: "), get[string](b, `document.querySelector(".examples a").title`))
		file := filepath.Join(t.TempDir(), "picture.png")
		require.NoError(t, os.WriteFile(file, m.pictures[m.images.Rows[1]["file"]], 0o600))
		b.do(chromedp.SetUploadFiles("input[type=file]", []string{file}))
		b.until(`document.querySelector("input[name=example]") === null`)
		get[bool](b, `(document.querySelector(".answer").replaceChildren(), true)`)
		b.do(chromedp.Click("form .primary"))
		check(b, m.images.Rows[1])
	})
	t.Run("by the keyboard", func(t *testing.T) {
		b := open(t, m.Site, site.Bob, page("reviews"))
		b.tabTo("Text")
		b.press("A wonderful film.")
		b.tabTo("Ask")
		b.press("\r")
		b.polled(answered + `.length > 0`)
		for name, fields := range map[string][]string{"reviews": {"Text", "Ask"}, "pictures": {"Image", "Ask"}, "rows": append(inputs(open(t, m.Site, site.Bob, page("rows"))), "Ask")} {
			b.do(chromedp.Navigate(m.URL + "/" + page(name)))
			require.Subset(t, b.walk(), fields, name)
		}
	})
	t.Run("an image that does not decode", func(t *testing.T) {
		b := open(t, m.Site, site.Carol, page("pictures"))
		file := filepath.Join(t.TempDir(), "picture.png")
		require.NoError(t, os.WriteFile(file, []byte("no image"), 0o600))
		b.do(chromedp.SetUploadFiles("input[type=file]", []string{file}), chromedp.Click("form .primary"))
		b.polled(answered + `.length > 0`)
		require.Contains(t, b.text(".answer"), "cannot be decoded")
	})
	t.Run("programs get the same", func(t *testing.T) {
		row := m.texts.Rows[0]
		line, err := strconv.Atoi(row["row"])
		require.NoError(t, err)
		status, _, found := m.ask(t, site.Bob, "/v2/models/"+m.Dataset+".reviews/infer", map[string]any{
			"inputs": []any{map[string]any{"name": "text", "datatype": "BYTES", "shape": []int{1}, "data": []string{m.lines[line-1]}}},
		})
		require.Equal(t, http.StatusOK, status, found)
		outputs, ok := found["outputs"].([]any)
		require.True(t, ok)
		require.Equal(t, row["predicted"], outputs[0].(map[string]any)["data"].([]any)[0]) //nolint:forcetypeassert // a test
	})
	t.Run("the sixty-first question", func(t *testing.T) {
		var wait sync.WaitGroup
		var mu sync.Mutex
		counts := map[int]int{}
		for range 70 {
			wait.Go(func() {
				status, header, _ := m.ask(t, site.Alice, "/api/v1/models/"+m.Dataset+"/reviews/champion/predict", map[string]any{"rows": []any{map[string]any{"text": "a"}}})
				mu.Lock()
				defer mu.Unlock()
				counts[status]++
				if status == http.StatusTooManyRequests {
					require.NotEmpty(t, header.Get("Retry-After"))
				}
			})
		}
		wait.Wait()
		require.Positive(t, counts[http.StatusTooManyRequests])
		require.GreaterOrEqual(t, counts[http.StatusOK], 60)
		require.Len(t, counts, 2)
	})
}

func inputs(b *tab) []string {
	return get[[]string](b, `[...document.querySelectorAll("[data-column]")].map((e) => e.dataset.column)`)
}

// promote moves the star in the browser. The dataset in Clowder says so.
func promote(t *testing.T, m *shown) {
	t.Helper()
	page := "models/" + m.Dataset + "/reviews"
	carol := open(t, m.Site, site.Carol, page)
	require.NotContains(t, carol.text("main"), "Make champion")
	b := open(t, m.Site, site.Bob, page)
	require.Contains(t, b.text(".champion"), "reviews/1")
	b.do(chromedp.Click(`a[href$="/2/promote"]`), chromedp.WaitVisible(`form[action$="/2/promote"]`))
	require.Contains(t, b.text("main"), "reviews@champion")
	b.do(chromedp.Click("main form button"), chromedp.WaitVisible(".flash"))
	require.Contains(t, b.text(".champion"), "reviews/2")
	require.Contains(t, b.text(".flash"), "The champion has changed")
	champion, err := registry.New(m.Volume.Registry()).Champion(registry.Dataset{Clowder: m.Clowder.URL, ID: m.Dataset}, "reviews")
	require.NoError(t, err)
	require.Equal(t, 2, champion.Version)
	client, err := clowder.NewClient(clowder.Config{URL: m.Clowder.URL})
	require.NoError(t, err)
	defer func() { require.NoError(t, client.Close()) }()
	noted, err := client.As(job.Secret(m.Clowder.Key(site.Bob))).Metadata(t.Context(), m.Dataset)
	require.NoError(t, err)
	require.Len(t, noted, 1)
	require.Equal(t, "reviews/2", noted[0].Content["champion"])
}

// modelPages looks at the pages of models in both themes and at both widths, before and after an answer.
func modelPages(t *testing.T, m *shown) {
	t.Helper()
	for name, page := range map[string]string{
		"models": "datasets/" + m.Dataset + "/models", "models-empty": "datasets/" + m.Empty + "/models", "model": "models/" + m.Dataset + "/reviews",
		"model-image": "models/" + m.Dataset + "/pictures?version=1&example=1", "model-table": "models/" + m.Dataset + "/rows",
		"model-promote": "models/" + m.Dataset + "/reviews/2/promote", "model-serve": "models/" + m.Dataset + "/reviews/1/serve",
	} {
		b := open(t, m.Site, site.Alice, page)
		if name == "model" {
			b.do(chromedp.SetValue("textarea", "The ending alone is worth it: a wonderful film."), chromedp.Click("form .primary"))
		}
		if name == "model" || name == "model-image" {
			b.until(answered + `.length > 0`)
		}
		require.NotEmpty(t, b.text("h1"))
		looked(b, name)
	}
}
