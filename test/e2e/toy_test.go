//go:build integration

package e2e

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob/raylocal"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/test/ports"
	"github.com/ncsa/clowder-ray/test/stack"
)

// signals is a file of the toy kind: readings of four sensors and the direction that they come from.
func signals(n int) string {
	r := rand.New(rand.NewPCG(3, 4))
	text := strings.Builder{}
	text.WriteString("toy 1\n")
	for range n {
		direction := 360 * r.Float64()
		for sensor := range 4 {
			fmt.Fprintf(&text, "%.3f ", math.Cos((direction-90*float64(sensor))*math.Pi/180)+0.05*r.NormFloat64())
		}
		fmt.Fprintf(&text, "-> %.1f\n", direction)
	}
	return text.String()
}

// pythonWithToy is an interpreter with the libraries of the tests and with the package toy, as an image with a kind of one's own has it. The
// program contains no tests, so the package is trainer/tests/toy by another name.
func pythonWithToy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	python := filepath.Join(dir, "bin", "python")
	require.NoError(t, exec.CommandContext(t.Context(), raytest.Python(t), "-m", "venv", "--without-pip", dir).Run())
	where := "import sysconfig; print(sysconfig.get_path('purelib'), end='')"
	libraries, err := exec.CommandContext(t.Context(), raytest.Python(t), "-c", where).Output()
	require.NoError(t, err)
	packages, err := exec.CommandContext(t.Context(), python, "-c", where).Output()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(string(packages), "libraries.pth"), append(libraries, '\n'), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(string(packages), "toy"), 0o750))
	sources, err := filepath.Glob(filepath.Join(stack.Root(), "trainer", "tests", "toy", "*.py"))
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	for _, source := range sources {
		code, err := os.ReadFile(source)
		require.NoError(t, err)
		code = bytes.ReplaceAll(code, []byte("trainer.tests.toy"), []byte("toy"))
		require.NoError(t, os.WriteFile(filepath.Join(string(packages), "toy", filepath.Base(source)), code, 0o600))
	}
	return python
}

// The program knows nothing of the toy kind: a variable of its environment is all that adds it to the trainer.
func TestAKindThatTheServiceDoesNotKnowIsTrainedServedAndShown(t *testing.T) {
	t.Setenv("MORE_KINDS", "toy")
	python := pythonWithToy(t)
	w := stack.NewFixture(t, stack.Program(t), map[string]string{"all.toy": signals(90)})
	ray, err := raylocal.Start(t.Context(), raylocal.Config{Python: python, Dir: t.TempDir(), Env: []string{"MORE_KINDS=toy"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ray.Stop()) })
	w.Env["RAY_ADDRESS"], w.Env["RAY_AUTH_TOKEN_PATH"], w.Env["RAY_PYTHON"] = ray.Address, ray.TokenFile, python
	free, err := ports.Free(t.Context(), 1)
	require.NoError(t, err)
	w.Env["STUDIO_LISTEN"] = fmt.Sprintf("127.0.0.1:%d", free[0])
	w.Env["STUDIO_URL"] = "http://" + w.Env["STUDIO_LISTEN"]
	service := w.Start(t, nil)

	options := "powers: 3\nregister_as: directions\nsearch.trials: 3\nsearch.space: 'learning_rate: 0.01..0.1'"
	last, updates := w.AwaitJob(t, w.Submit(t, w.Dataset, map[string]any{"epochs": 8, "more_options": options}))
	require.Equal(t, "SUCCEEDED", last.Status, "%s\n%s", last.Message, service.Log())
	require.Regexp(t, `turn \d+`, last.Message)
	told := strings.Builder{}
	for _, u := range updates {
		told.WriteString(u.Text + "\n")
	}
	require.Contains(t, told.String(), "The task is the direction of signals")
	names := uploaded(t, w, w.Dataset)
	for _, name := range []string{"model.zip", "metrics.json", "predictions.csv", "report.html", "model_card.md", "manifest.json"} {
		require.Contains(t, names, name)
	}

	asked := w.Clowder.AddDataset(stack.User, "Signals of today")
	_, err = w.Clowder.AddFile(asked, "new.toy", strings.NewReader(signals(6)))
	require.NoError(t, err)
	last, _ = w.AwaitJob(t, w.SubmitTo(t, stack.Predictor, asked, map[string]any{"model": "directions"}))
	require.Equal(t, "SUCCEEDED", last.Status, "%s\n%s", last.Message, service.Log())
	require.Contains(t, last.Message, "directions/1")
	require.Contains(t, uploaded(t, w, asked), "predictions.csv")

	var training job.Record
	for _, r := range w.AwaitRecords(t, 2) {
		require.Equal(t, job.Done, r.State)
		if r.Request.DatasetID == w.Dataset {
			training = r
		}
	}
	v := logIn(t, w)
	question := `{"rows": [{"north": 0, "east": 1, "south": 0, "west": -1}]}`
	answer := v.call(t, http.MethodPost, "/api/v1/models/"+w.Dataset+"/directions/champion/predict", "application/json", question)
	require.Regexp(t, `"name":"direction","text":"[\d.]+"`, answer)
	require.Contains(t, answer, `{"name":"point","text":"E"}`, "the sensor in the east reads most")
	page := v.call(t, http.MethodGet, "/models/"+w.Dataset+"/directions", "", "")
	require.Contains(t, page, "north", "the form of Try it")
	page = v.call(t, http.MethodGet, "/runs/"+training.Run, "", "")
	for _, text := range []string{"directions/1", "better than the mean direction", "Validation mean turn", "learning_rate: 0.01..0.1"} {
		require.Contains(t, page, text)
	}
	w.RequireNoKey(t, service.Log(), last.Message, told.String())
}

// visitor reads pages and asks models of the studio as the user does.
type visitor struct {
	client http.Client
	studio string
}

func logIn(t *testing.T, w *stack.Fixture) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	v := &visitor{http.Client{Jar: jar}, w.Env["STUDIO_URL"]}
	v.call(t, http.MethodPost, "/login/key", "application/x-www-form-urlencoded", url.Values{"key": {w.Clowder.Key(stack.User)}}.Encode())
	return v
}

// call returns the body of the answer, which has to be a good one.
func (v *visitor) call(t *testing.T, method, path, contentType, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, v.studio+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", contentType)
	answer, err := v.client.Do(req)
	require.NoError(t, err)
	read, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode, "%s", read)
	return string(read)
}
