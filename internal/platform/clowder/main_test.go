package clowder

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
	"github.com/ncsa/clowder-ray/test/bubble"
)

func TestMain(m *testing.M) {
	bubble.OneProcessor()
	goleak.VerifyTestMain(tests{m})
}

// tests gives the deliveries of all tests a folder, and removes it after the last one.
type tests struct{ m *testing.M }

// Run runs the tests.
func (t tests) Run() int {
	dir, err := os.MkdirTemp("", "clowder-ray-deliveries-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	deliveries.dir, deliveries.made = dir, make(map[[2]string]platform.Delivery)
	return t.m.Run()
}

// run is the run of most tests.
const run = "ft-one"

// quiet says nothing, and hear keeps all sentences.
var quiet = platform.Say{Passing: func(string) {}, Note: func(string) {}}

func hear(said *[]string) platform.Say {
	keep := func(text string) { *said = append(*said, text) }
	return platform.Say{Passing: keep, Note: keep}
}

// deliveries are what versions of the service deliver of finished runs. All tests share them: to draw the pictures of one takes more than a
// second with the race detector.
var deliveries struct {
	sync.Mutex

	dir  string
	made map[[2]string]platform.Delivery // by run and version
}

// deliveryOf returns what a version of the service delivers of a finished run. Its files belong to all tests: one that changes them takes copies.
func deliveryOf(tb testing.TB, run, version string) platform.Delivery {
	tb.Helper()
	deliveries.Lock()
	defer deliveries.Unlock()
	if made, ok := deliveries.made[[2]string{run, version}]; ok {
		return made
	}
	dir := filepath.Join(deliveries.dir, run+"-"+version)
	require.NoError(tb, os.Mkdir(dir, 0o700))
	require.NoError(tb, resultstest.Play(dir, run, 1))
	addOverlay(tb, dir)
	result, failure, err := results.Read(disk.Folder{Volume: dir}, run, 1)
	require.NoError(tb, err)
	require.Nil(tb, failure)
	meta := manifest.Meta{Run: run, Version: version, Started: time.Unix(0, 0)}
	artifacts, err := delivery.Build(tb.Context(), disk.Folder{Volume: dir}, disk.Folder{Volume: dir, Name: "deliver"}, result, meta)
	require.NoError(tb, err)
	made := platform.Delivery{
		Folders: delivery.Folder(meta, result), Artifacts: artifacts, Content: delivery.Metadata(meta, result), Prediction: result.Prediction,
	}
	deliveries.made[[2]string{run, version}] = made
	return made
}

// overlay is a picture that a run names to be shown.
const overlay = "overlay.png"

// addOverlay adds it to the results in the folder of a run.
func addOverlay(tb testing.TB, dir string) {
	tb.Helper()
	var drawn bytes.Buffer
	require.NoError(tb, png.Encode(&drawn, image.NewGray(image.Rect(0, 0, 8, 4))))
	require.NoError(tb, os.WriteFile(filepath.Join(dir, results.OutDir, overlay), drawn.Bytes(), 0o600))
	doc, err := os.ReadFile(filepath.Join(dir, results.ResultFile))
	require.NoError(tb, err)
	result, err := results.DecodeResult(doc)
	require.NoError(tb, err)
	sum := sha256.Sum256(drawn.Bytes())
	result.Outputs = append(result.Outputs, results.Output{
		Path: results.OutDir + overlay, Size: int64(drawn.Len()), SHA256: hex.EncodeToString(sum[:]), Title: "Overlay", Text: "Truth beside answer.", Shown: true,
	})
	changed, err := json.Marshal(result)
	require.NoError(tb, err)
	require.NoError(tb, os.WriteFile(filepath.Join(dir, results.ResultFile), changed, 0o600))
}
