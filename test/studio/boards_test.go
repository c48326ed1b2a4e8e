//go:build integration

package studio

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/test/studio/site"
	"github.com/ncsa/clowder-ray/trainer"
)

// withBoards returns a site with TensorBoard, whose finished run has event files of a training.
func withBoards(t *testing.T) (s *site.Site, run string) {
	t.Helper()
	python, err := exec.LookPath(os.Getenv("RAY_PYTHON"))
	if err != nil || exec.CommandContext(t.Context(), python, "-c", "import tensorboard").Run() != nil {
		t.Skip("RAY_PYTHON names no Python with the package tensorboard")
	}
	volume := t.TempDir()
	at, _, err := trainer.Install(disk.Folder{Volume: volume, Name: "trainer"})
	require.NoError(t, err)
	s = site.New(t, site.Options{Volume: volume, Python: python, TensorBoard: true, Prefix: "/ray", Trainer: func() (string, error) { return at, nil }})
	s.Fill(t)
	run = finished
	files, err := filepath.Glob(filepath.Join("..", "..", "internal", "results", "tensorboard", "testdata", "trainer", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	folder := filepath.Join(s.Volume.Run(run).Path(), "tensorboard")
	require.NoError(t, os.MkdirAll(folder, 0o750))
	for _, file := range files {
		doc, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, filepath.Base(file)), doc, 0o600))
	}
	return s, run
}

// TestTensorBoardShowsTheCurvesOfARun opens TensorBoard from the page of a run.
func TestTensorBoardShowsTheCurvesOfARun(t *testing.T) {
	s, run := withBoards(t)
	b := open(t, s, site.Carol, "runs/"+run)
	address := get[string](b, `document.querySelector('a[href*="/tensorboard/"]').getAttribute("href")`)
	require.Equal(t, "/ray/tensorboard/"+run+"/", address)
	b.watch()
	b.do(chromedp.Navigate(s.URL + "/tensorboard/" + run + "/"))
	b.until(`(function shown(n) { return [...n.querySelectorAll("*")].some(e => !["script", "style", "template"].includes(e.localName) && e.childElementCount === 0 && e.textContent.trim() === "accuracy" || e.shadowRoot && shown(e.shadowRoot)) })(document)`)
	require.Empty(t, get[[]string](b, "window.violations"), "TensorBoard itself needs nothing that its page may not")
	require.Empty(t, get[string](b, `(() => { try { return String(window.open("/ray/runs") ?? ""); } catch (e) { return ""; } })()`), "it opens no windows")
	get[bool](b, `(fetch("/ray/api/v1/me").then(() => window.asked = "answered", () => window.asked = "refused"), true)`)
	b.until(`window.asked !== undefined`)
	require.Equal(t, "refused", get[string](b, "window.asked"), "it asks below its own address only")
	if folder := os.Getenv("STUDIO_PICTURES"); folder != "" {
		b.look(1400, 1000, "light")
		picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, "tensorboard.png"), picture, 0o600))
	}

	for user, status := range map[string]int{site.Carol: http.StatusOK, site.Dave: http.StatusNotFound} {
		client := s.Login(t, user)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/tensorboard/"+run+"/data/runs", http.NoBody)
		require.NoError(t, err)
		answer, err := client.Do(req)
		require.NoError(t, err)
		require.Equal(t, status, answer.StatusCode, user)
		if status == http.StatusOK {
			var runs []string
			require.NoError(t, json.NewDecoder(answer.Body).Decode(&runs))
			require.Equal(t, []string{run}, runs)
		}
		require.NoError(t, answer.Body.Close())
	}
}
