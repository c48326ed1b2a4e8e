package attempt

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/options"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/platform/platformtest"
	contract "github.com/ncsa/clowder-ray/trainer/schema"
)

// schema compiles the contract's schema of spec.json.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := contract.Files.ReadFile("spec.schema.json")
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("spec.schema.json", doc))
	s, err := c.Compile("spec.schema.json")
	require.NoError(t, err)
	return s
}

// validate says how a spec.json breaks the contract.
func validate(t *testing.T, doc []byte) error {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	require.NoError(t, err)
	return schema(t).Validate(value)
}

func TestTheSpecKeepsTheContract(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		extractor  platform.Extractor
		parameters map[string]any
		want       string
	}{
		"nothing was set": {platformtest.Extractors(t)[0], nil, `{}`},
		"all is text as v1": {
			platformtest.Extractors(t)[0],
			map[string]any{"epochs": "5", "learning_rate": "1e-4", "seed": "42", "run_name": " films ", "use_gpu": "no"},
			`{"epochs": 5, "learning_rate": 0.0001, "run_name": "films", "use_gpu": "no"}`,
		},
		"the groups of the long form": {
			platformtest.Extractors(t)[1],
			map[string]any{"training": map[string]any{"weight_decay": 0.5, "optimizer": "adamw"}},
			`{"weight_decay": 0.5}`,
		},
		"a prediction": {platformtest.Extractors(t)[2], map[string]any{"model": "films/2", "top_k": 1}, `{"model": "films/2", "top_k": 1}`},
	} {
		rec := jobtest.Record("ft-one", "h")
		settings, _, err := tc.extractor.Info.Parameters(tc.parameters)
		require.NoError(t, err, name)
		rec.Kind, rec.Settings = tc.extractor.Kind, job.NewSettings(settings)
		resolved, err := tc.extractor.Resolve(settings, nil, nil)
		require.NoError(t, err, name)
		rec.Resolve(resolved)
		spec := newSpec(rec, []job.Input{{Name: "train.csv", Path: "train.csv", Size: 3, SHA256: strings.Repeat("a", 64)}})
		spec.Model = &SpecModel{Path: "../../registry/local/films/2/model"}
		spec.Champion = &SpecModel{Path: spec.Model.Path, Run: "ft-two", Name: "films", Version: 2}
		set := map[string]any{}
		for option, source := range spec.Sources {
			if source == options.OfForm {
				set[option] = spec.Settings[option]
			}
		}
		values, err := json.Marshal(set)
		require.NoError(t, err)
		require.JSONEq(t, tc.want, string(values), name)
		require.Len(t, spec.Settings, len(options.Of(string(rec.Kind)).All()), "every option has a value")
		doc, err := json.Marshal(spec)
		require.NoError(t, err)
		require.NoError(t, validate(t, doc), name)
	}
}

func TestTheGoldenSpecsAreOurs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"spec.json", "spec-predict.json", "spec-script.json"} {
		golden, err := os.ReadFile(filepath.Join("..", "..", "..", "trainer", "schema", "golden", name))
		require.NoError(t, err)
		var spec Spec
		decoder := json.NewDecoder(bytes.NewReader(golden))
		decoder.DisallowUnknownFields()
		require.NoError(t, decoder.Decode(&spec), name)
		again, err := json.Marshal(spec)
		require.NoError(t, err)
		require.JSONEq(t, string(golden), string(again), "no field of %s is lost", name)
	}
}

func TestAnAttemptReadsTheModelsThatItsSpecNames(t *testing.T) {
	t.Parallel()
	dataset := jobtest.Record("ft-one", "h").Request.DatasetID
	for name, tc := range map[string]struct {
		spec    Spec
		overlay string
		want    []string
	}{
		"a training without a champion": {Spec{}, "", []string{"models"}},
		"a script with packages":        {Spec{}, "overlays/1f", []string{"models", "overlays/1f"}},
		"a training that is compared": {
			Spec{Champion: &SpecModel{Path: "../../registry/" + dataset + "/films/1/model"}}, "", []string{"models", "registry/" + dataset + "/films/1/model"},
		},
		"a prediction": {
			Spec{Model: &SpecModel{Path: "../../registry/local/birds/7/model"}}, "", []string{"models", "registry/local/birds/7/model"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, reads("ft-one", tc.spec, tc.overlay))
		})
	}
}
