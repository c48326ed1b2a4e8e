package studio

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/test/studio/site"
)

var update = flag.Bool("update", false, "write docs/openapi.json and docs/api.md again")

// openAPI is what docs/api.md shows of the description of the API.
type openAPI struct {
	Paths map[string]map[string]operation `json:"paths"`
}

type operation struct {
	Summary     string                     `json:"summary"`
	Description string                     `json:"description"`
	Tags        []string                   `json:"tags"`
	Parameters  []parameter                `json:"parameters"`
	RequestBody json.RawMessage            `json:"requestBody"`
	Responses   map[string]json.RawMessage `json:"responses"`
}

type parameter struct {
	Name, In, Description string
}

// TestTheAPIIsTheOneThatIsDescribed makes every change of the API visible in a diff. Within v1 there are additions only.
func TestTheAPIIsTheOneThatIsDescribed(t *testing.T) {
	t.Parallel()
	s := site.New(t, site.Options{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api/v1/openapi.json", http.NoBody)
	require.NoError(t, err)
	req.Header.Set("X-API-KEY", s.Clowder.Key(site.Alice))
	answer, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	doc, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	var whole map[string]any
	require.NoError(t, json.Unmarshal(doc, &whole))
	require.Equal(t, "3.1.0", whole["openapi"])
	delete(whole, "servers") // each studio has an address of its own
	golden(t, "openapi.json", indented(t, whole))
	var api openAPI
	require.NoError(t, json.Unmarshal(doc, &api))
	golden(t, "api.md", handbook(api))
}

func indented(t *testing.T, v any) string {
	t.Helper()
	doc, err := json.MarshalIndent(v, "", " ")
	require.NoError(t, err)
	return string(doc) + "\n"
}

// golden compares a text with a file of docs, or writes it.
func golden(t *testing.T, name, text string) {
	t.Helper()
	_, here, _, ok := runtime.Caller(0)
	require.True(t, ok)
	path := filepath.Join(filepath.Dir(here), "..", "..", "docs", name)
	if !filepath.IsAbs(path) { // a program that was built with -trimpath runs in the folder of the test
		path = filepath.Join("..", "..", "docs", name)
	}
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, string(have) == text, "the API has changed: run make api, and read the difference of docs/%s", name) //nolint:testifylint // the whole texts are long
}

const intro = `# The API of the studio

Everything that the pages of the studio show and do, programs can read and do, too. <!-- Written by make api. -->

Send the same credential as to Clowder: an API key as ` + "`X-API-KEY`" + `, or a token of its Keycloak as ` + "`Authorization: Bearer`" + `. What you may
do is what Clowder lets you do. An unknown id and one that you may not see give the same answer.

This trains a model with curl and waits for its score. ` + "`STUDIO`" + ` is the address of the studio, and ` + "`DATASET`" + ` the id of a dataset:

` + "```sh" + `
api() { curl --fail-with-body -sS -H "X-API-KEY: $CLOWDER_KEY" "$STUDIO/api/v1/$1" "${@:2}"; }
run=$(api "datasets/$DATASET/runs" --json '{"extractor": "ncsa.ray.finetune", "parameters": {"epochs": 5}}' | jq -r .run)
until api "runs/$run" 2>/dev/null | jq -e .state.over >/dev/null; do sleep 2; done
api "runs/$run" | jq '{state: .state.word, sentence, figure}'
api "runs/$run/files/out/metrics.json" -o metrics.json
` + "```" + `

The same in Python:

` + "```python" + `
import os, time, requests
api = requests.Session(); api.headers["X-API-KEY"] = os.environ["CLOWDER_KEY"]; base = os.environ["STUDIO"] + "/api/v1/"
run = api.post(base + f"datasets/{os.environ['DATASET']}/runs", json={"extractor": "ncsa.ray.finetune"}).json()["run"]
while not (view := api.get(base + "runs/" + run).json()).get("state", {}).get("over"): time.sleep(2)
print(view["sentence"], view.get("figure"))
` + "```" + `

- [openapi.json](openapi.json) describes every field (OpenAPI 3.1). The studio serves it at ` + "`/api/v1/openapi.json`" + `. Version 1 changes by
  additions only.
- An error is ` + "`application/problem+json`" + ` (RFC 9457). ` + "`type`" + ` is for programs, ` + "`detail`" + ` says what happened, and ` + "`do`" + ` what to do next.
- A list has ` + "`next`" + ` while there is more: send it as ` + "`cursor`" + `. The header ` + "`Link`" + ` has the whole address.
- Requests that change something take an ` + "`Idempotency-Key`" + `: two with the same key are one.
`

// handbook writes docs/api.md: each operation with its parameters, by what it is about.
func handbook(api openAPI) string {
	type entry struct {
		path, method string
		operation
	}
	var entries []entry
	for path, methods := range api.Paths {
		for method, o := range methods {
			entries = append(entries, entry{path, strings.ToUpper(method), o})
		}
	}
	tag := func(e entry) string {
		if len(e.Tags) == 0 {
			return "Other"
		}
		return e.Tags[0]
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(tag(a), tag(b)), cmp.Compare(a.path, b.path), cmp.Compare(a.method, b.method))
	})
	var b strings.Builder
	b.WriteString(intro)
	last := ""
	for _, e := range entries {
		if tag(e) != last {
			last = tag(e)
			fmt.Fprintf(&b, "\n## %s\n\n| operation | what it does | parameters | answers |\n|---|---|---|---|\n", last)
		}
		var names []string
		for _, p := range e.Parameters {
			if p.In == "query" || p.In == "header" {
				names = append(names, "`"+p.Name+"`")
			}
		}
		if len(e.RequestBody) > 0 {
			names = append(names, "a body")
		}
		answers := slices.DeleteFunc(slices.Sorted(maps.Keys(e.Responses)), func(s string) bool { return s == "default" })
		fmt.Fprintf(&b, "| `%s %s` | %s | %s | %s |\n", e.method, e.path, strings.TrimSuffix(e.Summary+". "+strings.ReplaceAll(e.Description, "\n", " "), ". "), strings.Join(names, ", "), strings.Join(answers, ", "))
	}
	return b.String()
}
