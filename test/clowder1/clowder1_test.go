//go:build clowder1

package clowder1

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/test/stack"
)

func TestClowder1(t *testing.T) {
	r := newRig(t)
	s := r.serve(nil)
	killed := testKilledInATraining(r, s)
	r.testFileJob()
	r.testWrongSettings()
	r.testEvents()
	r.testLabels()
	require.NoError(t, killed.Stop(30*time.Second))
	r.testCancel()
}

func TestClowder1KilledAtRandomMoments(t *testing.T) { newRig(t).testKilledAtRandomMoments() }

func TestClowder1TellsOfNewFiles(t *testing.T) { newRig(t).testAutomatic() }

// testKilledInATraining submits a good job, kills the service while it trains, and expects one set of results and one end.
func testKilledInATraining(r *fixture, s *stack.Service) *stack.Service {
	dataset, _ := r.dataset("Größe <1>")
	page, release := "/datasets/"+dataset, r.HoldTrainings()
	training := make(chan struct{})
	begun := sync.OnceFunc(func() { close(training) })
	r.OnTraining(func(raytest.Driver) { begun() })
	r.submit("datasets", dataset, stack.Extractor, map[string]any{"epochs": 5})
	<-training
	r.awaitLine(page, "START: Accepted dataset Größe <1>", 1)
	s.Kill()
	s = r.serve(nil)
	release()
	lines := r.awaitLine(page, "DONE", 1)
	require.Equal(r, "DONE", lines[len(lines)-1], "nothing follows the end: %q", lines)
	require.Equal(r, 1, count(lines, "DONE"), "%q", lines)
	require.Equal(r, 1, count(lines, "Results in folder finetune/"), "the result is said before it: %q", lines)
	require.Equal(r, 1, count(lines, "To stop the job, submit the dataset to "+stack.Manager), "%q", lines)
	require.EqualValues(r, 1, r.Trainings.Load(), "Ray goes on while the service is away")
	names := r.files(dataset)
	require.Len(r, slices.Compact(slices.Sorted(slices.Values(names))), len(names), "each file once: %q", names)
	require.Equal(r, 1, count(names, "model.zip"), "%q", names)
	require.NotContains(r, s.Log(), r.key)
	for _, line := range lines {
		require.NotContains(r, line, r.key)
	}
	return s
}

// testFileJob submits one of two files.
func (f *fixture) testFileJob() {
	dataset, _ := f.dataset("One of two")
	file := f.upload(dataset, "done.csv", false)
	f.submit("files", file, stack.Extractor, nil)
	lines := f.awaitLine("/files/"+file, "DONE", 1)
	require.Equal(f, []int{1, 1}, []int{count(lines, "DONE"), count(lines, "Accepted file do\u2060ne.csv")}, "the name of the file ends nothing: %q", lines)
	require.Equal(f, 1, count(f.files(dataset), "model.zip"))
	all := f.Records(f)
	inputs, err := os.ReadFile(filepath.Join(f.Env["SHARED_DIR"], "runs", all[len(all)-1].Run, "inputs.json"))
	require.NoError(f, err)
	require.Contains(f, string(inputs), file)
	require.NotContains(f, string(inputs), "train.csv")
}

// testWrongSettings submits what the page does not keep anybody from submitting.
func (f *fixture) testWrongSettings() {
	dataset, _ := f.dataset("Wrong")
	f.submit("datasets", dataset, stack.Extractor, map[string]any{"epochs": 900_000})
	lines := f.awaitLine("/datasets/"+dataset, "ERROR: ", 1)
	require.Equal(f, 1, count(lines, "poch"), "the field is named: %q", lines)
	require.Zero(f, count(lines, "DONE"))
}

// testEvents adds a file as other users do, with extractions switched on, and submits its dataset afterwards.
func (f *fixture) testEvents() {
	before := len(f.Records(f))
	dataset, _ := f.dataset("Events")
	f.upload(dataset, "more.csv", true)
	f.submit("datasets", dataset, stack.Manager, map[string]any{"action": "list"})
	f.awaitLine("/datasets/"+dataset, "DONE", 1)
	require.Len(f, f.Records(f), before+1, "only the submission became a job")
}

// testCancel cancels, on Clowder's page, the last of three submissions, of which the first one trains and the others wait.
func (f *fixture) testCancel() {
	f.serve(map[string]string{"MAX_JOBS": "1"})
	release := f.HoldTrainings()
	before := len(f.Records(f))
	var datasets []string
	for _, name := range []string{"Trains", "Waits", "Is cancelled"} {
		dataset, _ := f.dataset(name)
		datasets = append(datasets, "/datasets/"+dataset)
		f.submit("datasets", dataset, stack.Extractor, nil)
		if name == "Trains" {
			f.awaitLine("/datasets/"+dataset, "START: ", 1)
		} else {
			f.awaitLine("/datasets/"+dataset, "SUBMITTED", 1)
		}
	}
	text, _ := f.do(http.MethodGet, datasets[2], "", nil)
	ids := cancels.FindStringSubmatch(text)
	require.NotNil(f, ids, "the page offers no cancellation")
	f.call(http.MethodDelete, "/api"+datasets[2]+"/extractions/"+ids[1], map[string]string{"extractor": stack.Extractor}, nil)
	f.awaitLine(datasets[2], "Cancel Success", 1)
	release()
	for _, page := range datasets[:2] {
		lines := f.awaitLine(page, "DONE", 1)
		require.Equal(f, 1, count(lines, "DONE"), "%q", lines)
	}
	require.Len(f, f.Records(f), before+2, "the cancelled one never came")
}
