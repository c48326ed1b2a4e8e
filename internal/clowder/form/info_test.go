package form_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/form"
)

func infoIn(tb testing.TB, file string) *form.Info {
	tb.Helper()
	data, err := os.ReadFile("../../../" + file)
	require.NoError(tb, err)
	info, err := form.Parse(data)
	require.NoError(tb, err)
	return info
}

func shippedInfo(tb testing.TB) *form.Info {
	tb.Helper()
	return infoIn(tb, "extractor_info.json")
}

func TestShippedInfoIsAccepted(t *testing.T) {
	t.Parallel()
	info := shippedInfo(t)
	require.Equal(t, "ncsa.ray.finetune", info.Name)
	resolved, warnings, err := info.Parameters(nil)
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Equal(t, map[string]any{
		"task": "auto", "model": "auto", "data_file": "", "test_file": "", "text_column": "", "label_column": "", "epochs": int64(3), "batch_size": int64(32),
		"learning_rate": 0.0, "max_length": int64(0), "num_workers": int64(0), "use_gpu": "auto", "max_minutes": int64(60), "seed": int64(42), "run_name": "",
		"config_file": "", "more_options": "", "dry_run": false,
	}, resolved)
	require.Equal(t, resolved, info.Defaults())
	require.Empty(t, info.Changed(resolved), "nothing was set")
}

// shippedVersion is how the shipped file says its version.
const shippedVersion = `"version": "0.2.0"`

// edited is the shipped document with one text replaced.
func edited(t *testing.T, old, repl string) ([]byte, error) {
	t.Helper()
	data, err := os.ReadFile("../../../extractor_info.json")
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(data), old), "%q must stand once in the shipped file", old)
	out := []byte(strings.Replace(string(data), old, repl, 1))
	_, err = form.Parse(out)
	return out, err
}

func TestParseFindsWhatClowderDropsSilently(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ old, repl, want string }{
		"no name":                           {`"name": "ncsa.ray.finetune"`, `"name": ""`, "name must be a non-empty text"},
		"a name like a file queue":          {`"name": "ncsa.ray.finetune"`, `"name": "ncsa.file.x"`, ".file."},
		"a name with a blank":               {`"name": "ncsa.ray.finetune"`, `"name": "My Extractor"`, "lower case"},
		"a version that is a number":        {shippedVersion, `"version": 1`, "version must be a non-empty text"},
		"a version from git describe":       {shippedVersion, `"version": "1.2.3-5-gabc"`, "PEP 440"},
		"a version that is a word":          {shippedVersion, `"version": "latest"`, "PEP 440"},
		"a dirty version":                   {shippedVersion, `"version": "1.0.0-dirty"`, "PEP 440"},
		"a null description":                {`"description": "Trains`, `"description": null, "x": "Trains`, "description must be a non-empty text"},
		"an author that is an object":       {`"author": "National`, `"author": {}, "x": "National`, "author must be a non-empty text"},
		"contributors that are objects":     {`"contributors": []`, `"contributors": [{}]`, "contributors must be a list of texts"},
		"libraries that are null":           {`"bibtex": []`, `"bibtex": null`, "bibtex must be a list of texts"},
		"contexts with a nested list":       {`"contexts": [`, `"contexts": [[],`, "contexts must be a list of objects"},
		"a repository without v1's names":   {`"repType": "git",`, ``, "repository must be a list"},
		"a null maturity":                   {`"maturity": "Development"`, `"maturity": null`, "maturity must be a text"},
		"process as a list":                 {`"dataset": ["*"]`, `"dataset": "*"`, "process must be an object of lists"},
		"a file feed":                       {`"dataset": ["*"]`, `"dataset": ["*"], "file": []`, "must not have the key file"},
		"a metadata trigger of v1":          {`"dataset": ["*"]`, `"dataset": ["*"], "metadata": ["*"]`, "must not have the key metadata"},
		"permissions":                       {`"bibtex": []`, `"bibtex": [], "permissions": [{}]`, "remove permissions"},
		"a key of its own":                  {`"bibtex": []`, `"bibtex": [], "unique_key": "k"`, "remove unique_key"},
		"a v1 trigger":                      {`"dataset": ["*"]`, `"dataset": ["file.added"]`, "for each such event"},
		"a field of v2's own record":        {`"bibtex": []`, `"bibtex": [], "id": "1"`, "remove id"},
		"a word for active":                 {`"bibtex": []`, `"bibtex": [], "active": "yes"`, "active must be true or false"},
		"no schema":                         {`"schema": {`, `"schemas": {`, "object schema"},
		"a quote in a help text":            {`"Leave empty to use every`, `"Doesn't need every`, "plain ASCII"},
		"a default that is not first":       {`["auto", "yes", "no"]`, `["yes", "auto", "no"]`, "must be the first choice"},
		"a default outside its limits":      {`"default": 42`, `"default": -1`, "parameter seed: its default"},
		"a required property":               {`"title": "Epochs",`, `"title": "Epochs", "required": true,`, "required is not supported"},
		"a property without a title":        {`"title": "Epochs",`, ``, "parameter epochs: without a title"},
		"a property without a default":      {`"default": 42,`, ``, "parameter seed: without a default"},
		"a type without a widget":           {`"type": "number"`, `"type": "array"`, "type must be string"},
		"the same parameter twice":          {`"epochs": {`, `"seed": {"type":"string"}, "epochs": {`, "object schema"},
		"not an object":                     {`"@context"`, `"a" "@context"`, "invalid character"},
		"choices that are not all texts":    {`["auto", "yes", "no"]`, `["auto", 1]`, "a property must be an object"},
		"a default of a wrong type":         {`"default": 42`, `"default": "x"`, "parameter seed: its default"},
		"an author that is missing for v1":  {`"author"`, `"authors"`, "author must be a non-empty text"},
		"a context that is a URL for v1":    {`"contexts": [`, `"contexts": ["http://example.org/",`, "contexts must be a list of objects"},
		"an extra document after the first": {`"form": ["*"]`, `"form": ["*"]}, "x": {"a":"b"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := edited(t, tc.old, tc.repl)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestParseReportsAllProblems(t *testing.T) {
	t.Parallel()
	_, err := form.Parse([]byte(`{"name":"x","version":"dev"}`))
	for _, want := range []string{"description", "author", "contexts", "repository", "process", "schema", "PEP 440"} {
		require.ErrorContains(t, err, want)
	}
}

func TestVersionsOfPEP440(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1.2.3", "v1.2.3", "1.0.0-rc.1", "1.0.0+abc", "0.0.0-20240101", "2!1.0", "1.0.post1.dev2", "1.0a1"} {
		_, err := edited(t, shippedVersion, `"version": "`+version+`"`)
		require.NoError(t, err, version)
	}
}

// heartbeatOf decodes the result of Heartbeat.
func heartbeatOf(t *testing.T, info *form.Info, queue string, owner form.Owner) (beat struct {
	ID, Queue, Owner string
	Info             struct {
		Name       string
		UniqueKey  string `json:"unique_key"`
		Process    map[string][]string
		Parameters struct {
			Schema map[string]struct{ Enum []string }
		}
	} `json:"extractor_info"`
},
) {
	t.Helper()
	require.NoError(t, json.Unmarshal(info.Heartbeat(queue, owner, "i1"), &beat))
	return beat
}

func TestHeartbeat(t *testing.T) {
	t.Parallel()
	info := shippedInfo(t)
	plain := heartbeatOf(t, info, "ncsa.ray.finetune", form.Owner{})
	require.Equal(t, []string{"i1", "ncsa.ray.finetune", "", "ncsa.ray.finetune"}, []string{plain.ID, plain.Queue, plain.Owner, plain.Info.Name})
	require.Equal(t, "renamed", heartbeatOf(t, info, "renamed", form.Owner{}).Info.Name, "Clowder publishes to the registered name")
	require.Empty(t, plain.Info.UniqueKey)
	const queue = "private.k.ncsa.ray.finetune"
	private := heartbeatOf(t, info, queue, form.Owner{Email: "a@example.org", Key: "k"})
	require.Equal(t, []string{queue, "a@example.org", queue, "k"}, []string{private.Queue, private.Owner, private.Info.Name, private.Info.UniqueKey},
		"v1 publishes to the name, and shows it to its owner only with the key")
	owned := heartbeatOf(t, info, "ncsa.ray.finetune", form.Owner{Email: "a@example.org"})
	require.Equal(t, []string{"a@example.org", "ncsa.ray.finetune", ""}, []string{owned.Owner, owned.Info.Name, owned.Info.UniqueKey})
	require.Equal(t, "renamed", info.RegisteredName("renamed"))
}

func TestThePageOfAFileInV1OffersTheExtractor(t *testing.T) {
	t.Parallel()
	info := shippedInfo(t)
	forFiles, err := info.ForFiles()
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"dataset": {"*"}, "file": {"*"}}, heartbeatOf(t, forFiles, "q", form.Owner{}).Info.Process)
	require.Equal(t, map[string][]string{"dataset": {"*"}}, heartbeatOf(t, info, "q", form.Owner{}).Info.Process, "not that in v2")
}

func TestHeartbeatKeepsTheOrderOfTheForm(t *testing.T) {
	t.Parallel()
	body := string(shippedInfo(t).Heartbeat("q", form.Owner{}, "i"))
	last := -1
	for _, name := range []string{"task", "model", "data_file", "text_column", "epochs", "learning_rate", "seed", "run_name"} {
		at := strings.Index(body, `"`+name+`":{`)
		require.Greater(t, at, last, name)
		last = at
	}
}

func TestTheFormOfV1HasFieldsOfSeveralLines(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]map[string]string{
		"extractor_info.json":          {"more_options": "textarea"},
		"extractor_info.advanced.json": {"more_options": "textarea"},
		"extractor_info.script.json":   {"arguments": "textarea", "hyperparameters": "textarea"},
		"extractor_info.runs.json":     nil,
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			var beat struct {
				Info struct {
					Parameters struct {
						Schema map[string]any
						Form   []any
					}
				} `json:"extractor_info"`
			}
			require.NoError(t, json.Unmarshal(infoIn(t, file).Heartbeat("q", form.Owner{}, "i"), &beat))
			if want == nil {
				require.Equal(t, []any{"*"}, beat.Info.Parameters.Form)
				return
			}
			require.Len(t, beat.Info.Parameters.Form, len(beat.Info.Parameters.Schema), "each field once")
			types := map[string]string{}
			for _, entry := range beat.Info.Parameters.Form {
				field, _ := entry.(map[string]any)
				key, _ := field["key"].(string)
				require.Contains(t, beat.Info.Parameters.Schema, key)
				if kind, _ := field["type"].(string); kind != "" {
					types[key] = kind
				}
			}
			require.Equal(t, want, types)
		})
	}
}

func TestWithModels(t *testing.T) {
	t.Parallel()
	info := shippedInfo(t)
	more, err := info.WithModels([]string{"prajjwal1/bert-tiny", "auto", "bert-base-uncased"})
	require.NoError(t, err)
	want := []string{"auto", "words", "trees", "linear", "perceptron", "ensemble", "bert-tiny", "small-cnn", "mlp", "sage", "prajjwal1/bert-tiny", "bert-base-uncased"}
	require.Equal(t, want, heartbeatOf(t, more, "q", form.Owner{}).Info.Parameters.Schema["model"].Enum)
	require.Equal(t, want[:10], heartbeatOf(t, info, "q", form.Owner{}).Info.Parameters.Schema["model"].Enum, "the original stays as it is")
	resolved, _, err := more.Parameters(map[string]any{"model": "bert-base-uncased"})
	require.NoError(t, err)
	require.Equal(t, "bert-base-uncased", resolved["model"])
	_, err = info.WithModels([]string{`org/"x"`})
	require.ErrorContains(t, err, "cannot offer model")
}

func FuzzParse(f *testing.F) {
	data, err := os.ReadFile("../../../extractor_info.json")
	require.NoError(f, err)
	f.Add(data)
	f.Add([]byte(`{"parameters":{"schema":{"a":{"type":"string","enum":[]}}}}`))
	f.Add([]byte(`{"parameters":{"schema":{"a":{"type":"object","title":"A","properties":{"b":{"type":"object"}}}}}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := form.Parse(data)
		if err != nil {
			return
		}
		require.True(t, json.Valid(info.Heartbeat("q", form.Owner{}, "i")))
		_, _, err = info.Parameters(nil)
		require.NoError(t, err)
	})
}
