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
func (f *fixture) testAutomatic() {
	dataset, _ := f.dataset("Automatic")
	env := map[string]string{"AUTOMATIC_AFTER": "8s"}
	s := f.serve(env)
	f.enable(form.NewFiles)
	f.submit("datasets", dataset, stack.Extractor, nil)
	f.awaitLine("/datasets/"+dataset, "DONE", 1)
	f.awaitNoActive()
	before := len(f.Records(f))
	f.uploadBody(dataset, "finetune.yaml", "automatic: predict\n", true)
	first := f.upload(dataset, "new 1.csv", true)
	require.Eventually(f, func() bool { return len(f.Records(f)) > before }, stack.StepTimeout, 100*time.Millisecond)
	s.Kill()
	second := f.upload(dataset, "new 2.csv", true)
	s = f.serve(env)
	for _, file := range []string{first, second} {
		f.awaitLine("/files/"+file, "DONE", 1)
	}
	f.awaitNoActive()
	records := slices.DeleteFunc(f.Records(f), func(rec job.Record) bool { return len(rec.Request.Announced) == 0 })
	require.Len(f, records, 1, "one run for all files")
	require.Equal(f, job.Done, records[0].State, records[0].LastError)
	require.Len(f, records[0].Request.Announced, 2, "without the settings file")
	require.Equal(f, 2, count(f.files(dataset), "report.html"), "%q", f.files(dataset))
	require.NoError(f, s.Stop(30*time.Second))
}

// testLabels trains on two files whose labels are metadata that alice has written.
func (f *fixture) testLabels() {
	dataset, train := f.dataset("Labels")
	file := f.upload(dataset, "other.csv", false)
	for id, species := range map[string]string{train: "wren", file: "robin"} {
		f.call(http.MethodPost, "/api/files/"+id+"/metadata.jsonld", map[string]any{
			"content": map[string]any{"species": species},
			"agent":   map[string]any{"@type": "cat:user", "user_id": f.url + "/api/users/000000000000000000000000"},
		}, nil)
	}
	f.submit("datasets", dataset, stack.Advanced, map[string]any{"data": map[string]any{"label_from": "metadata.species"}})
	f.awaitLine("/datasets/"+dataset, "DONE", 1)
	all := f.Records(f)
	inputs, err := os.ReadFile(filepath.Join(f.Env["SHARED_DIR"], "runs", all[len(all)-1].Run, "inputs.json"))
	require.NoError(f, err)
	for _, label := range []string{`"label":"wren"`, `"label":"robin"`} {
		require.Contains(f, strings.ReplaceAll(string(inputs), `": "`, `":"`), label)
	}
}
