//go:build clowder1

package clowder1

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/stack"
)

// TestClowder1ChosenData trains on what users choose: files and folders of the form, datasets, collections and spaces, and labels.
func TestClowder1ChosenData(t *testing.T) {
	r := newRig(t)
	s := r.serve(nil)
	r.testManyDatasets()
	r.testFilesAndFolders()
	r.testFoldersOfOneName()
	r.testOldNames()
	r.testTags()
	r.testSections()
	r.testKindsOfLabels()
	require.NoError(t, s.Stop(30*time.Second))
	require.NotContains(t, s.Log(), r.key)
}

// testManyDatasets trains on a collection, one in it, a space, a dataset and one that alice may not read.
func (f *fixture) testManyDatasets() {
	start, _ := f.dataset("Where the run starts")
	sets := map[string]string{}
	for _, name := range []string{"Plot 1", "Plot 2", "Plot 3", "Plot 4"} {
		sets[name], _ = f.dataset(name)
	}
	var collection, inner, space struct{ ID string }
	f.call(http.MethodPost, "/api/collections", map[string]string{"name": "Season", "description": "d"}, &collection)
	f.call(http.MethodPost, "/api/collections/newCollectionWithParent", map[string]string{"name": "Day", "description": "d", "parentId": collection.ID}, &inner)
	f.call(http.MethodPost, "/api/collections/"+collection.ID+"/datasets/"+sets["Plot 1"], nil, nil)
	f.call(http.MethodPost, "/api/collections/"+inner.ID+"/datasets/"+sets["Plot 2"], nil, nil)
	f.call(http.MethodPost, "/api/spaces", map[string]string{"name": "Fields", "description": "d"}, &space)
	f.call(http.MethodPost, "/api/spaces/"+space.ID+"/addDatasetToSpace/"+sets["Plot 3"], nil, nil)
	record, lines := f.train(start, map[string]any{"data": map[string]any{
		"datasets": fmt.Sprintf("collection:%s, space:%s, %s/datasets/%s", collection.ID, space.ID, f.url, sets["Plot 4"]),
	}})
	require.Equal(f, job.Done, record.State, "%q", lines)
	from := map[string]string{}
	for _, in := range f.inputs(record) {
		from[in.Dataset] = in.DatasetID
	}
	sets["Where the run starts"] = start
	require.Equal(f, sets, from)
	for name, id := range sets {
		require.Equal(f, name == "Where the run starts", count(f.files(id), "model.zip") == 1, "the results are where the run was started: %s", name)
	}

	var secret struct{ ID string }
	f.callAs(f.env["BOB_KEY"], http.MethodPost, "/api/datasets/createempty", map[string]string{"name": "Hidden name", "description": "d"}, &secret)
	record, lines = f.fail(start, map[string]any{"data": map[string]any{"datasets": secret.ID}})
	require.Contains(f, record.Ending.Text, secret.ID)
	require.NotContains(f, strings.Join(lines, "\n"), "Hidden name")
	for _, holder := range []string{"collection:" + none, "space:" + none, "search:plot"} {
		record, lines = f.fail(start, map[string]any{"data": map[string]any{"datasets": holder}})
		require.Contains(f, record.Ending.Text, holder[:5], "%q", lines)
	}
}

// none has the form of an id and belongs to nothing.
const none = "000000000000000000000000"

// testFilesAndFolders trains with a test file or folder that is chosen in each of the ways that people and selectors know.
func (f *fixture) testFilesAndFolders() {
	dataset, _ := f.dataset("Chosen")
	held := f.folder(f.key, dataset, "held")
	file := f.put(f.key, dataset, held, "test.csv")
	other, _ := f.dataset("Another/one")
	season := f.folder(f.key, other, "season")
	f.put(f.key, other, season, "b.csv")
	var secret struct{ ID string }
	f.callAs(f.env["BOB_KEY"], http.MethodPost, "/api/datasets/createempty", map[string]string{"name": "Hidden name", "description": "d"}, &secret)
	hidden := f.put(f.env["BOB_KEY"], secret.ID, "", "hidden.csv")
	selector := func(set, id, kind string) string {
		return fmt.Sprintf(`{"selectionID":%q,"selectionName":"any","datasetId":%q,"selectionType":%q}`, id, set, kind)
	}
	for typed, name := range map[string]string{
		"held/":                              "test (form, held)/test.csv",
		"held":                               "test (form, held)/test.csv",
		"held/test.csv":                      "test (form)/test.csv",
		"test.csv":                           "test (form)/test.csv",
		file:                                 "test (form)/test.csv",
		held:                                 "test (form, held)/test.csv",
		selector(dataset, held, "folder"):    "test (form, held)/test.csv",
		selector(other, season, "folder"):    "test (form, Another_one, season)/b.csv",
		`["held/test.csv", "season/gone/"]`:  "",
		selector(secret.ID, hidden, "file"):  "",
		selector(dataset, none, "folder"):    "",
		`{"selectionID":"../../api/users"}`:  "",
		"held/deeper/":                       "",
		selector(other, hidden, "file"):      "",
		selector(secret.ID, none, "folder"):  "",
		selector("../users", held, "folder"): "",
	} {
		if name == "" {
			record, lines := f.fail(dataset, map[string]any{"test_file": typed})
			require.Contains(f, record.Ending.Text, "test_file", "%s: %q", typed, lines)
			require.NotContains(f, strings.Join(lines, "\n"), "Hidden name")
			continue
		}
		record, lines := f.train(dataset, map[string]any{"test_file": typed})
		require.Equal(f, job.Done, record.State, "%s: %q", typed, lines)
		chosen := slices.IndexFunc(f.inputs(record), func(in job.Input) bool { return in.Name == name })
		require.GreaterOrEqual(f, chosen, 0, "%s: %v", typed, f.inputs(record))
		if strings.Contains(name, "Another") {
			require.Equal(f, f.url+"/datasets/"+other, f.inputs(record)[chosen].Source)
		}
	}
}

// testFoldersOfOneName makes a second folder of a name, to which Clowder gives another name on its pages.
func (f *fixture) testFoldersOfOneName() {
	dataset, _ := f.dataset("Two folders")
	var ids []string
	for n := range 2 {
		var folder struct{ ID string }
		f.call(http.MethodPost, "/api/datasets/"+dataset+"/newFolder", map[string]string{"name": "runs", "parentId": dataset, "parentType": "dataset"}, &folder)
		f.put(f.key, dataset, folder.ID, fmt.Sprintf("in %d.csv", n))
		ids = append(ids, folder.ID)
	}
	for typed, name := range map[string]string{
		"runs/": "test (form, runs)/in 0.csv", "runs (1)/": "test (form, runs (1))/in 1.csv", ids[1]: "test (form, runs (1))/in 1.csv",
	} {
		record, lines := f.train(dataset, map[string]any{"test_file": typed})
		require.Equal(f, job.Done, record.State, "%q", lines)
		var tested []string
		for _, in := range f.inputs(record) {
			if strings.HasPrefix(in.Name, "test (form") {
				tested = append(tested, in.Name)
			}
		}
		require.Equal(f, []string{name}, tested, typed)
	}
}

// testOldNames submits what scripts for earlier extractors send.
func (f *fixture) testOldNames() {
	dataset, train := f.dataset("Of a script")
	test := f.put(f.key, dataset, "", "other.csv")
	const secret = "abcdefghijklmnopqrstuvwxyz0123456789abcd"
	record, lines := f.train(dataset, map[string]any{
		"LOCAL_TRAIN_FILE_ID": train, "LOCAL_TEST_FILE_ID": test, "NUM_LABELS": "2", "WANDB_API_KEY": secret, "HF_TOKEN": secret,
	})
	require.Equal(f, job.Done, record.State, "%q", lines)
	said := strings.Join(lines, "\n")
	for _, name := range []string{"LOCAL_TRAIN_FILE_ID as data_file", "LOCAL_TEST_FILE_ID as test_file", "NUM_LABELS", "WANDB_API_KEY", "HF_TOKEN"} {
		require.Contains(f, said, name)
	}
	doc, err := json.Marshal(record)
	require.NoError(f, err)
	require.NotContains(f, said+string(doc), secret)
}

// testTags trains on files whose labels are tags.
func (f *fixture) testTags() {
	dataset, train := f.dataset("Tags")
	file := f.put(f.key, dataset, "", "other.csv")
	untagged := f.put(f.key, dataset, "", "untagged.csv")
	for id, tag := range map[string]string{train: "wren", file: "robin"} {
		f.call(http.MethodPost, "/api/files/"+id+"/tags", map[string]any{"tags": []string{tag}}, nil)
	}
	record, lines := f.train(dataset, map[string]any{"data": map[string]any{"label_from": "tags"}})
	require.Equal(f, job.Done, record.State, "%q", lines)
	require.Equal(f, map[string]string{train: "wren", file: "robin", untagged: ""}, f.labels(record))
	require.Equal(f, 1, count(lines, "1 of 3 files have no tag"), "%q", lines)
}

// testSections trains on the tags of parts that somebody has marked in the files; one file has a part without a tag.
func (f *fixture) testSections() {
	dataset, train := f.dataset("Sections")
	file := f.put(f.key, dataset, "", "other.csv")
	untagged := f.put(f.key, dataset, "", "untagged.csv")
	for id, tags := range map[string][]string{train: {"wren", "owl"}, file: {"robin"}, untagged: {""}} {
		for i, tag := range tags {
			var section struct{ ID string }
			area := map[string]any{"x": 10 * i, "y": 0, "w": 8, "h": 8}
			f.call(http.MethodPost, "/api/sections", map[string]any{"file_id": id, "area": area}, &section)
			if tag != "" {
				f.call(http.MethodPost, "/api/sections/"+section.ID+"/tags", map[string]any{"tags": []string{tag}}, nil)
			}
		}
	}
	record, lines := f.train(dataset, map[string]any{"data": map[string]any{"label_from": "sections"}})
	require.Equal(f, job.Done, record.State, "%q", lines)
	labels := f.labels(record)
	require.ElementsMatch(f, []string{"wren", "owl"}, strings.Split(labels[train], ";"))
	require.Equal(f, "robin", labels[file])
	require.Empty(f, labels[untagged])
}

// testKindsOfLabels trains on metadata in the forms that people and extractors write: a list, an object with a label, keys with blanks and
// addresses, and the metadata of a dataset for the files that have none.
func (f *fixture) testKindsOfLabels() {
	dataset, train := f.dataset("Kinds of labels")
	labels := map[string]string{train: "wren"}
	f.note("files", train, map[string]any{"Plant Species": []any{map[string]any{"label": "robin", "score": 0.2}, map[string]any{"label": "wren", "score": 0.7}}})
	for content, label := range map[string]string{
		`{"Plant Species":["finch","owl"]}`:              "finch;owl",
		`{"Plant Species":{"label":"wren","uri":"u"}}`:   "wren",
		`{"http://localhost/terms/Plant Species":"owl"}`: "owl",
		`{"other":1}`: "marsh",
	} {
		file := f.put(f.key, dataset, "", fmt.Sprintf("of %s.csv", label))
		var parsed map[string]any
		require.NoError(f, json.Unmarshal([]byte(content), &parsed))
		f.note("files", file, parsed)
		labels[file] = label
	}
	f.note("datasets", dataset, map[string]any{"Plant Species": "marsh"})
	record, lines := f.train(dataset, map[string]any{"data": map[string]any{"label_from": "metadata.Plant Species"}})
	require.Equal(f, job.Done, record.State, "%q", lines)
	require.Equal(f, labels, f.labels(record))
}

// note adds metadata in the name of a person.
func (f *fixture) note(collection, id string, content map[string]any) {
	f.Helper()
	f.call(http.MethodPost, "/api/"+collection+"/"+id+"/metadata.jsonld", map[string]any{
		"content": content, "agent": map[string]any{"@type": "cat:user", "user_id": f.url + "/api/users/" + none},
	}, nil)
}

// train submits a dataset to the extractor with all options and returns the job, when it is done, and what the page says of all its jobs.
func (f *fixture) train(dataset string, options map[string]any) (job.Record, []string) {
	f.Helper()
	return f.over(dataset, options, "DONE")
}

// fail is train for a job that ends without a training.
func (f *fixture) fail(dataset string, options map[string]any) (job.Record, []string) {
	f.Helper()
	trained := f.Trainings.Load()
	record, lines := f.over(dataset, options, "ERROR: ")
	require.Equal(f, job.Failed, record.State)
	require.Equal(f, trained, f.Trainings.Load())
	return record, lines
}

func (f *fixture) over(dataset string, options map[string]any, end string) (job.Record, []string) {
	f.Helper()
	page, before := "/datasets/"+dataset, len(f.Records(f))
	ended := count(f.log(page), end)
	f.submit("datasets", dataset, stack.Advanced, options)
	record := f.AwaitRecords(f, before+1)[before]
	return record, f.awaitLine(page, end, ended+1)
}

// inputs are the files of a run.
func (f *fixture) inputs(record job.Record) (inputs []job.Input) {
	f.Helper()
	doc, err := os.ReadFile(filepath.Join(f.Env["SHARED_DIR"], "runs", record.Run, "inputs.json"))
	require.NoError(f, err)
	require.NoError(f, json.Unmarshal(doc, &inputs))
	return inputs
}

// labels are the labels of a run, by the ids of its files.
func (f *fixture) labels(record job.Record) map[string]string {
	f.Helper()
	out := map[string]string{}
	for _, in := range f.inputs(record) {
		out[in.ID] = in.Label
	}
	return out
}
