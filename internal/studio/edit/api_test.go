package edit

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// create adds a file through the API.
func (f *fixture) create(email, name, text string) answer {
	f.t.Helper()
	body, err := json.Marshal(map[string]string{"name": name, "text": text})
	require.NoError(f.t, err)
	return f.do(email, http.MethodPost, f.api("files"), string(body), "Content-Type", "application/json")
}

func TestTheAPIListsTheTextFilesOfADataset(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	h := newFixture(t)
	require.NoError(t, h.direct(bob, "epochs: 6\n"))
	for _, name := range []string{"b.py", "a/z.txt", "a/FINETUNE.YML", "B.MD", "image.png", "no-ending"} {
		h.add(name, "x = 1\n")
	}
	h.add("large.txt", strings.Repeat("x", maxText+1))
	h.add("limit.txt", strings.Repeat("x", maxText))
	h.clowder.AddUnfinishedFile(h.dataset, "coming.yaml")
	var got struct {
		Files []Listed
		Other int `json:"others"`
	}
	listed := h.do(carol, http.MethodGet, h.api("files"), "")
	require.Equal(t, 200, listed.status, listed.body)
	require.NoError(t, json.Unmarshal([]byte(listed.body), &got))
	var paths []string
	for _, f := range got.Files {
		paths = append(paths, f.Path)
	}
	require.Equal(t, []string{"a/FINETUNE.YML", "finetune.yaml", "B.MD", "a/z.txt", "b.py", "limit.txt"}, paths, "settings first, then by path")
	require.Equal(t, Listed{ID: h.file, Path: "finetune.yaml", Version: 2, Bytes: 10, By: bob}, got.Files[1])
	require.Equal(t, 4, got.Other, "an unfinished file, a large one and two that are no texts")

	h.dataset = h.clowder.AddDataset(alice, "empty")
	empty := h.do(alice, http.MethodGet, h.api("files"), "")
	require.Contains(t, empty.body, `"files":[]`)
	require.Contains(t, empty.body, `"others":0`)
}

func TestAnOlderVersionIsReadWithTheTagOfTheNewest(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	require.Equal(t, 200, f.save(bob, f.tag(), "epochs: 6\n").status)
	path := f.api("files", f.file)
	old := f.do(carol, http.MethodGet, path+"?version=1", "")
	require.Equal(t, 200, old.status, old.body)
	require.Contains(t, old.json["text"], "epochs: 5\n")
	require.Equal(t, f.tag(), old.header.Get("ETag"))
	newest, _ := old.json["newest"].(map[string]any)
	require.EqualValues(t, 2, newest["number"])
	require.Equal(t, "epochs: 6\n", f.do(carol, http.MethodGet, path+"?version=0", "").json["text"], "no version is the newest")
	require.Equal(t, 404, f.do(carol, http.MethodGet, path+"?version=3", "").status)
	for _, wrong := range []string{"-1", "one", "1.5"} {
		refused := f.do(carol, http.MethodGet, path+"?version="+wrong, "")
		require.Equal(t, 422, refused.status, wrong)
		require.Equal(t, "request", refused.json["type"], wrong)
	}
	require.NoError(t, f.direct(bob, "a\xff"))
	require.NoError(t, f.direct(bob, "epochs: 7\n"))
	broken := f.do(carol, http.MethodGet, path+"?version=3", "")
	require.Equal(t, 409, broken.status, broken.body)
	require.Equal(t, "Not a text", broken.json["title"])
	require.Equal(t, []any{"This file is not UTF-8 text.", "Open it in Clowder."}, []any{broken.json["detail"], broken.json["do"]})
}

func TestAReaderLearnsWhyAFileCannotBeSaved(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	published, elsewhere := f.add("published.yaml", "a: 1\n"), f.add("elsewhere.yaml", "a: 1\n")
	f.clowder.Publish(published)
	f.clowder.Register(elsewhere, "/data/elsewhere.yaml")
	zero := f.add("zero.txt", "a\x00b")
	for name, c := range map[string]struct {
		who, file string
		header    []string
		why, do   any
	}{
		"an editor may": {bob, f.file, nil, nil, nil},
		"a viewer": {
			carol, f.file, nil, "Read only: you are viewer of this dataset.", "Ask an owner of the dataset for the role editor.",
		},
		"an uploader": {
			erin, f.file, nil, "Read only: you are uploader of this dataset.", "Ask an owner of the dataset for the role editor.",
		},
		"an editor with a key": {
			bob, f.file,
			[]string{"By-Key", "1"},
			"Read only: Clowder takes new versions only from a login with its Keycloak.", "Log in with Keycloak, or save a copy.",
		},
		"a viewer with a key": {
			carol, f.file, []string{"By-Key", "1"}, "Read only: you are viewer of this dataset.", "Ask an owner of the dataset for the role editor.",
		},
		"a published file": {
			alice, published, nil, "Read only: this file is part of a published version of the dataset.", "Open the file of the dataset itself.",
		},
		"a file that is elsewhere": {
			alice, elsewhere, nil, "Read only: Clowder keeps no versions of this file, because it is stored elsewhere.", "Save a copy.",
		},
		"a file with a zero in it": {alice, zero, nil, "This file is not text.", "Open it in Clowder."},
		"a file that is no text":   {carol, f.add("no.txt", "\xfe\xff"), nil, "This file is not UTF-8 text.", "Open it in Clowder."},
		"a file larger than allowed": {
			alice, f.add("large.md", strings.Repeat("x", maxText+1)), nil, "This file is larger than 1 MB.", "Open it in Clowder.",
		},
	} {
		got := f.do(c.who, http.MethodGet, f.api("files", c.file), "", c.header...)
		require.Equal(t, 200, got.status, name+got.body)
		require.Equal(t, []any{c.why, c.do}, []any{got.json["read_only"], got.json["do"]}, name)
	}
	page := f.do(alice, http.MethodGet, f.page("files", elsewhere), "").body
	require.Contains(t, page, ">Save a copy<")
	require.NotContains(t, page, "Log in", "another login would not help")
}

func TestASaveTakesItsTagAsHTTPWritesIt(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	for i, form := range []string{`"%s"`, `W/"%s"`, `%s`, `  "%s" `} {
		tag := strings.Trim(f.tag(), `"`)
		got := f.save(alice, fmt.Sprintf(form, tag), fmt.Sprintf("seed: %d\n", i))
		require.Equal(t, 200, got.status, form+got.body)
		require.Equal(t, `"`+got.json["tag"].(string)+`"`, got.header.Get("ETag"))
	}
	for _, form := range []string{"*", `""`, `"1-"`, `"5-x", "%s"`, "1"} {
		tag := strings.ReplaceAll(form, "%s", strings.Trim(f.tag(), `"`))
		require.GreaterOrEqual(t, f.save(alice, tag, "seed: 99\n").status, 412, "a save names one version: "+tag)
	}
	require.Equal(t, "seed: 3\n", f.text(f.file))
}

func TestAFileIsAddedThroughTheAPI(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	text := "# ü\n" + strings.Repeat("\x01", maxText-5) // JSON writes six bytes for one
	made := f.create(erin, "  notes.md ", text)
	require.Equal(t, 201, made.status, made.body)
	id, _ := made.json["id"].(string)
	require.Equal(t, "/ray"+f.api("files", id), made.header.Get("Location"))
	require.Equal(t, []any{"notes.md", 1.0, float64(maxText), erin}, []any{made.json["path"], made.json["version"], made.json["bytes"], made.json["by"]})
	require.Equal(t, text, f.text(id))
	require.Equal(t, text, f.do(carol, http.MethodGet, f.api("files", id), "").json["text"])

	for name, c := range map[string]struct {
		who, name, text string
		status          int
		detail, do      string
	}{
		"a viewer": {
			carol, "a.md", "x", 403,
			"You are viewer of this dataset; this needs the role uploader.", "Ask an owner of the dataset to give you that role in Clowder.",
		},
		"nobody":   {dave, "a.md", "x", 404, "There is no such page, or you may not see it.", "Check the address."},
		"a path":   {alice, "../a.md", "x", 422, `A file cannot be called "../a.md".`, "Use a name without slashes, for example finetune.yaml."},
		"a folder": {alice, "code/a.py", "x", 422, `A file cannot be called "code/a.py".`, "Use a name without slashes, for example finetune.yaml."},
		"no name":  {alice, " ", "x", 422, `A file cannot be called "".`, "Use a name without slashes, for example finetune.yaml."},
		"a name of 201 bytes": {
			alice, strings.Repeat("x", 198) + ".md", "x", 422,
			`A file cannot be called "` + strings.Repeat("x", 59) + `….`, "Use a name without slashes, for example finetune.yaml.",
		},
		"a program": {
			alice, "a.exe", "x", 422, `The editor does not open "a.exe".`, "End the name with .yaml, .yml, .json, .toml, .py, .md or .txt.",
		},
		"a name that is there": {alice, "FineTune.YAML", "x", 409, `The dataset has a file "FineTune.YAML" already.`, "Open it, or use another name."},
		"a text with a zero":   {alice, "a.md", "a\x00", 422, "This file is not text.", "Remove what is no text, then save again."},
		"a text over 1 MB": {
			alice, "a.md", strings.Repeat("x", maxText+1), 413, "It is larger than 1 MB.", "Make it shorter, or upload it in Clowder.",
		},
	} {
		got := f.create(c.who, c.name, c.text)
		require.Equal(t, c.status, got.status, name+got.body)
		require.Contains(t, got.json["detail"], strings.TrimSuffix(c.detail, "."), name)
		require.Contains(t, got.json["do"], c.do, name)
	}
	list := f.do(alice, http.MethodGet, f.api("files"), "")
	require.Len(t, list.json["files"], 2, "nothing else was added")
}

func TestOneNameIsAddedOnceByTenPeopleAtOnce(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	var mu sync.Mutex
	var group sync.WaitGroup
	count := map[int]int{}
	for i := range 10 {
		group.Go(func() {
			got := f.create([]string{alice, erin}[i%2], []string{"notes.md", "Notes.MD"}[i/5], "x\n")
			mu.Lock()
			defer mu.Unlock()
			count[got.status]++
		})
	}
	group.Wait()
	require.Equal(t, map[int]int{201: 1, 409: 9}, count, "Clowder would keep all ten")
}

func TestNobodyLearnsWhatExists(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	const free = "000000000000000000000000"
	check := `{"name": "a.yaml", "text": "a: 1"}`
	for name, c := range map[string]struct{ method, path, body string }{
		"the list":      {http.MethodGet, "/api/v1/datasets/%s/files", ""},
		"a new file":    {http.MethodPost, "/api/v1/datasets/%s/files", check},
		"a file":        {http.MethodGet, "/api/v1/datasets/%s/files/" + f.file, ""},
		"its versions":  {http.MethodGet, "/api/v1/datasets/%s/files/" + f.file + "/versions", ""},
		"a save":        {http.MethodPut, "/api/v1/datasets/%s/files/" + f.file, `{"text": "x"}`},
		"a check":       {http.MethodPost, "/api/v1/datasets/%s/check", check},
		"what happens":  {http.MethodGet, "/api/v1/datasets/%s/files/" + f.file + "/events", ""},
		"the page":      {http.MethodGet, "/datasets/%s/files", ""},
		"its history":   {http.MethodGet, "/datasets/%s/files/" + f.file + "/versions", ""},
		"a restoration": {http.MethodPost, "/datasets/%s/files/" + f.file + "/versions", "version=1"},
	} {
		header := []string{"If-Match", `"1-x"`, "Content-Type", "application/json"}
		if strings.HasPrefix(c.path, "/datasets/") {
			header = []string{"Content-Type", "application/x-www-form-urlencoded"}
		}
		hidden := f.do(dave, c.method, fmt.Sprintf(c.path, f.dataset), c.body, header...)
		require.Equal(t, 404, hidden.status, name+hidden.body)
		require.Contains(t, hidden.body, "There is no such page, or you may not see it.", name)
		for _, other := range []string{free, "no-id", "..%2f..", strings.Repeat("0", 64)} {
			got := f.do(dave, c.method, fmt.Sprintf(c.path, other), c.body, header...)
			require.Equal(t, 404, got.status, name+other)
			require.Equal(t, hidden.body, got.body, name+other)
		}
	}
	for _, other := range []string{free, "no-id", f.clowder.AddUnfinishedFile(f.clowder.AddDataset(dave, "of dave"), "a.yaml")} {
		require.Equal(t, 404, f.do(alice, http.MethodGet, f.api("files", other), "").status, other)
		require.Equal(t, 404, f.do(alice, http.MethodGet, f.api("files", other, "versions"), "").status, other)
	}
	checked := f.do(carol, http.MethodPost, f.api("check"), check, "Content-Type", "application/json")
	require.Equal(t, 200, checked.status, "who sees the dataset may check")
}

func TestTheOptionsOfATrainingMayBeKeptByABrowserOnly(t *testing.T) { //nolint:paralleltest // huma keeps its errors in a variable
	f := newFixture(t)
	got := f.do(dave, http.MethodGet, "/api/v1/options", "")
	require.Equal(t, 200, got.status)
	require.Equal(t, "private, max-age=3600", got.header.Get("Cache-Control"))
	var options []map[string]any
	require.NoError(t, json.Unmarshal([]byte(got.body), &options))
	for _, o := range options {
		if o["name"] == "optimizer" {
			require.Equal(t, []any{"training", []any{"adamw", "sgd", "adafactor"}}, []any{o["group"], o["enum"]})
			require.NotContains(t, o, "minimum")
			return
		}
	}
	require.Fail(t, "there is no optimizer")
}
