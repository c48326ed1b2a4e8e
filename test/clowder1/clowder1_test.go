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
func testKilledInATraining(r *rig, s *stack.Service) *stack.Service {
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
func (r *rig) testFileJob() {
	dataset, _ := r.dataset("One of two")
	file := r.upload(dataset, "done.csv", false)
	r.submit("files", file, stack.Extractor, nil)
	lines := r.awaitLine("/files/"+file, "DONE", 1)
	require.Equal(r, []int{1, 1}, []int{count(lines, "DONE"), count(lines, "Accepted file do\u2060ne.csv")}, "the name of the file ends nothing: %q", lines)
	require.Equal(r, 1, count(r.files(dataset), "model.zip"))
	all := r.Records(r)
	inputs, err := os.ReadFile(filepath.Join(r.Env["SHARED_DIR"], "runs", all[len(all)-1].Run, "inputs.json"))
	require.NoError(r, err)
	require.Contains(r, string(inputs), file)
	require.NotContains(r, string(inputs), "train.csv")
}

// testWrongSettings submits what the page does not keep anybody from submitting.
func (r *rig) testWrongSettings() {
	dataset, _ := r.dataset("Wrong")
	r.submit("datasets", dataset, stack.Extractor, map[string]any{"epochs": 900_000})
	lines := r.awaitLine("/datasets/"+dataset, "ERROR: ", 1)
	require.Equal(r, 1, count(lines, "poch"), "the field is named: %q", lines)
	require.Zero(r, count(lines, "DONE"))
}

// testEvents adds a file as other users do, with extractions switched on, and submits its dataset afterwards.
func (r *rig) testEvents() {
	before := len(r.Records(r))
	dataset, _ := r.dataset("Events")
	r.upload(dataset, "more.csv", true)
	r.submit("datasets", dataset, stack.Manager, map[string]any{"action": "list"})
	r.awaitLine("/datasets/"+dataset, "DONE", 1)
	require.Len(r, r.Records(r), before+1, "only the submission became a job")
}

// testCancel cancels, on Clowder's page, the last of three submissions, of which the first one trains and the others wait.
func (r *rig) testCancel() {
	r.serve(map[string]string{"MAX_JOBS": "1"})
	release := r.HoldTrainings()
	before := len(r.Records(r))
	var datasets []string
	for _, name := range []string{"Trains", "Waits", "Is cancelled"} {
		dataset, _ := r.dataset(name)
		datasets = append(datasets, "/datasets/"+dataset)
		r.submit("datasets", dataset, stack.Extractor, nil)
		if name == "Trains" {
			r.awaitLine("/datasets/"+dataset, "START: ", 1)
		} else {
			r.awaitLine("/datasets/"+dataset, "SUBMITTED", 1)
		}
	}
	text, _ := r.do(http.MethodGet, datasets[2], "", nil)
	ids := cancels.FindStringSubmatch(text)
	require.NotNil(r, ids, "the page offers no cancellation")
	r.call(http.MethodDelete, "/api"+datasets[2]+"/extractions/"+ids[1], map[string]string{"extractor": stack.Extractor}, nil)
	r.awaitLine(datasets[2], "Cancel Success", 1)
	release()
	for _, page := range datasets[:2] {
		lines := r.awaitLine(page, "DONE", 1)
		require.Equal(r, 1, count(lines, "DONE"), "%q", lines)
	}
	require.Len(r, r.Records(r), before+2, "the cancelled one never came")
}
