//go:build clowder1

package clowder1

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/stack"
)

// testAutomatic adds files, as users do, to a dataset that asks for predictions and has a model, and kills the service between two of them. An administrator
// has enabled the extractor that hears of new files.
func (r *rig) testAutomatic() {
	dataset, _ := r.dataset("Automatic")
	env := map[string]string{"AUTOMATIC_AFTER": "8s"}
	s := r.serve(env)
	r.enable(form.NewFiles)
	r.submit("datasets", dataset, stack.Extractor, nil)
	r.awaitLine("/datasets/"+dataset, "DONE", 1)
	r.awaitNoActive()
	before := len(r.Records(r))
	r.uploadBody(dataset, "finetune.yaml", "automatic: predict\n", true)
	first := r.upload(dataset, "new 1.csv", true)
	require.Eventually(r, func() bool { return len(r.Records(r)) > before }, stack.StepTimeout, 100*time.Millisecond)
	s.Kill()
	second := r.upload(dataset, "new 2.csv", true)
	s = r.serve(env)
	for _, file := range []string{first, second} {
		r.awaitLine("/files/"+file, "DONE", 1)
	}
	r.awaitNoActive()
	records := slices.DeleteFunc(r.Records(r), func(rec job.Record) bool { return len(rec.Request.Announced) == 0 })
	require.Len(r, records, 1, "one run for all files")
	require.Equal(r, job.Done, records[0].State, records[0].LastError)
	require.Len(r, records[0].Request.Announced, 2, "without the settings file")
	require.Equal(r, 2, count(r.files(dataset), "report.html"), "%q", r.files(dataset))
	require.NoError(r, s.Stop(30*time.Second))
}

// testLabels trains on two files whose labels are metadata that alice has written.
func (r *rig) testLabels() {
	dataset, train := r.dataset("Labels")
	file := r.upload(dataset, "other.csv", false)
	for id, species := range map[string]string{train: "wren", file: "robin"} {
		r.call(http.MethodPost, "/api/files/"+id+"/metadata.jsonld", map[string]any{
			"content": map[string]any{"species": species},
			"agent":   map[string]any{"@type": "cat:user", "user_id": r.url + "/api/users/000000000000000000000000"},
		}, nil)
	}
	r.submit("datasets", dataset, stack.Advanced, map[string]any{"data": map[string]any{"label_from": "metadata.species"}})
	r.awaitLine("/datasets/"+dataset, "DONE", 1)
	all := r.Records(r)
	inputs, err := os.ReadFile(filepath.Join(r.Env["SHARED_DIR"], "runs", all[len(all)-1].Run, "inputs.json"))
	require.NoError(r, err)
	for _, label := range []string{`"label":"wren"`, `"label":"robin"`} {
		require.Contains(r, strings.ReplaceAll(string(inputs), `": "`, `":"`), label)
	}
}
