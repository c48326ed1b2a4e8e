//go:build clowder2

package clowder2

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/test/stack"
)

func TestClowder2(t *testing.T) {
	f := newRig(t)
	s := testKilledInATraining(f, f.serve(nil))
	f.testLabels()
	f.testSeveralDatasets()
	f.testRights()
	f.testDeletedInThePage(s)
	require.NoError(t, s.Stop(30*time.Second))
	require.NotContains(t, s.Log(), f.env["ALICE_KEY"])
}

// testKilledInATraining submits a good job, kills the service while it trains, and expects one set of results and one end.
func testKilledInATraining(f *fixture, s *stack.Service) *stack.Service {
	dataset, _ := f.dataset("Größe <1>")
	release := f.HoldTrainings()
	training := make(chan struct{})
	begun := sync.OnceFunc(func() { close(training) })
	f.OnTraining(func(raytest.Driver) { begun() })
	id := f.Submit(f, dataset, map[string]any{"epochs": 5})
	<-training
	s.Kill()
	s = f.serve(nil)
	release()
	last, _ := f.AwaitJob(f, id)
	require.Equal(f, "SUCCEEDED", last.Status, last.Message)
	require.EqualValues(f, 1, f.Trainings.Load(), "Ray goes on while the service is away")
	files, err := f.Session.Files(f.Context(), dataset)
	require.NoError(f, err)
	var names []string
	for _, file := range files {
		names = append(names, file.Path)
	}
	require.Len(f, slices.Compact(slices.Sorted(slices.Values(names))), len(names), "each file once: %q", names)
	return s
}

// testLabels trains on two files whose labels are metadata that a user has written.
func (f *fixture) testLabels() {
	dataset, train := f.dataset("Labels")
	other := f.upload(dataset, "other.csv", "text,label\nfine,yes\npoor,no\n")
	for id, species := range map[string]any{train: "wren", other: []string{"robin"}} {
		f.call("ALICE_KEY", http.MethodPost, "/files/"+id+"/metadata", map[string]any{
			"content": map[string]any{"species": species}, "@context": []any{map[string]string{"species": "https://schema.org/about"}},
		}, nil)
	}
	last, record := f.train(dataset, map[string]any{"data": map[string]any{"label_from": "metadata.species"}})
	require.Equal(f, "SUCCEEDED", last.Status, last.Message)
	for _, label := range []string{`"label":"wren"`, `"label":"robin"`} {
		require.Contains(f, f.inputs(record), label)
	}
	f.call("ALICE_KEY", http.MethodPost, "/datasets/"+dataset+"/metadata", map[string]any{
		"content": map[string]any{"site": "marsh"}, "@context": []any{map[string]string{"site": "https://schema.org/location"}},
	}, nil)
	last, record = f.train(dataset, map[string]any{"data": map[string]any{"label_from": "metadata.site"}})
	require.Equal(f, "SUCCEEDED", last.Status, last.Message)
	require.Equal(f, 2, strings.Count(f.inputs(record), `"label":"marsh"`), "both files have the label of their dataset")
}

// testSeveralDatasets trains on a dataset and on one that is named.
func (f *fixture) testSeveralDatasets() {
	dataset, _ := f.dataset("Where the run starts")
	named, file := f.dataset("Named")
	last, record := f.train(dataset, map[string]any{"data": map[string]any{"datasets": named}})
	require.Equal(f, "SUCCEEDED", last.Status, last.Message)
	for _, part := range []string{`"dataset_id":"` + named + `"`, `"id":"` + file + `"`} {
		require.Contains(f, f.inputs(record), part)
	}
}

// testRights publishes what Clowder's own route refuses: a released version, and a dataset that bob may only view.
func (f *fixture) testRights() {
	dataset, _ := f.dataset("Released")
	var released struct{ ID string }
	f.call("ALICE_KEY", http.MethodPost, "/datasets/"+dataset+"/freeze", nil, &released)
	f.call("ALICE_KEY", http.MethodPost, "/authorizations/datasets/"+dataset+"/user_role/bob@example.org/viewer", nil, nil)
	for name, refused := range map[string][2]string{"released version": {released.ID, "ALICE_KEY"}, "role uploader": {dataset, "BOB_KEY"}} {
		require.Contains(f, f.refused(refused[0], refused[1]), name)
	}
}

// testDeletedInThePage deletes an extractor, as an administrator does, and expects it back.
func (f *fixture) testDeletedInThePage(s *stack.Service) {
	listener, ok := f.listener(stack.Manager)
	require.True(f, ok)
	f.call("ADMIN_KEY", http.MethodDelete, "/listeners/"+listener.ID+"?enable_admin=true", nil, nil)
	require.Eventually(f, func() bool {
		_, ok := f.listener(stack.Manager)
		return ok
	}, stack.StepTimeout, 200*time.Millisecond, "its next heartbeat registers it again:\n%s", s.Log())
}
