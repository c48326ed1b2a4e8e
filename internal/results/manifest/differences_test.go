package manifest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
)

func sum(digit string) string { return strings.Repeat(digit, 64) }

// made is a manifest with what two runs can differ in.
func made() manifest.Manifest {
	return manifest.Manifest{
		Version: "1.2.0", SplitSHA256: sum("5"), Versions: map[string]string{"torch": "2.15.0", "ray": "3.0"},
		Hardware: results.Hardware{CPU: "EPYC", GPU: "H100"},
		Dataset:  manifest.Dataset{Files: []job.Input{{ID: "66f0", Name: "train.csv", SHA256: sum("1")}, {Name: "test.csv", SHA256: sum("2")}}},
		Settings: []results.Setting{{Name: "epochs", Value: 3.0}, {Name: "file", Value: "66f0"}, {Name: "run_name", Value: "first"}},
	}
}

func TestWhatDiffersFromAnEarlierRunIsNamed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*manifest.Manifest)
		want   []string
	}{
		"a file in another state": {
			func(m *manifest.Manifest) { m.Dataset.Files[1].SHA256 = sum("9") }, []string{"the data: test.csv"},
		},
		"a setting":              {func(m *manifest.Manifest) { m.Settings[0].Value = 4.0 }, []string{"epochs: 4 instead of 3"}},
		"a setting that is away": {func(m *manifest.Manifest) { m.Settings = m.Settings[1:] }, []string{"epochs: nothing instead of 3"}},
		"a setting without a value": {
			func(m *manifest.Manifest) { m.Settings[0].Value = nil }, []string{"epochs: nothing instead of 3"},
		},
		"an empty setting": {func(m *manifest.Manifest) { m.Settings[0].Value = "" }, []string{"epochs: nothing instead of 3"}},
		"a long setting": {
			func(m *manifest.Manifest) { m.Settings[0].Value = strings.Repeat("é", 100) },
			[]string{"epochs: " + strings.Repeat("é", 79) + "… instead of 3"},
		},
		"what becomes of the model": {func(m *manifest.Manifest) { m.Settings[2].Value = "second" }, nil},
		"the row split":             {func(m *manifest.Manifest) { m.SplitSHA256 = "77" }, []string{"the row split (sha256): 77 instead of " + sum("5")}},
		"a row split of other settings": {
			func(m *manifest.Manifest) { m.SplitSHA256, m.Settings[0].Value = "77", 4.0 }, []string{"epochs: 4 instead of 3"},
		},
		"packages in order": {
			func(m *manifest.Manifest) { m.Versions = map[string]string{"torch": "2.16.0"} },
			[]string{"ray: nothing instead of 3.0", "torch: 2.16.0 instead of 2.15.0"},
		},
		"the machine": {
			func(m *manifest.Manifest) { m.Version, m.Hardware = "1.3.0", results.Hardware{CPU: "Xeon"} },
			[]string{"clowder-ray: 1.3.0 instead of 1.2.0", "the CPU: Xeon instead of EPYC", "the GPU: nothing instead of H100"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			again := made()
			again.Settings[1].Value = "train.csv" // a folder knows a file by its name
			tc.change(&again)
			require.Equal(t, tc.want, made().Differences(again))
		})
	}
}

func TestTheDigestOfDataDependsOnNamesAndContentsAlone(t *testing.T) {
	t.Parallel()
	a, b := job.Input{ID: "1", Name: "a.csv", SHA256: sum("1")}, job.Input{ID: "2", Name: "b.csv", SHA256: sum("2")}
	want := manifest.DataDigest([]job.Input{a, b})
	for name, tc := range map[string]struct {
		inputs []job.Input
		same   bool
	}{
		"another order":                {[]job.Input{b, a}, true},
		"another id":                   {[]job.Input{{ID: "9", Name: a.Name, SHA256: a.SHA256}, b}, true},
		"another content":              {[]job.Input{{ID: "1", Name: a.Name, SHA256: sum("3")}, b}, false},
		"contents that changed places": {[]job.Input{{Name: a.Name, SHA256: b.SHA256}, {Name: b.Name, SHA256: a.SHA256}}, false},
		"a file less":                  {[]job.Input{a}, false},
		"a file twice":                 {[]job.Input{a, b, b}, false},
		"a name like a second line":    {[]job.Input{{Name: "a.csv\"\n" + sum("2") + "  \"b.csv", SHA256: a.SHA256}}, false},
		"no file":                      {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := manifest.DataDigest(tc.inputs)
			require.True(t, results.IsSHA256(got))
			require.Equal(t, tc.same, got == want)
		})
	}
}

func TestSortingInputsLeavesTheirListAlone(t *testing.T) {
	t.Parallel()
	inputs := []job.Input{{Name: "b"}, {Name: "a", ID: "2"}, {Name: "a", ID: "1", SHA256: "y"}, {Name: "a", ID: "1", SHA256: "x"}}
	sorted := manifest.SortedInputs(inputs)
	require.Equal(t, []job.Input{{Name: "a", ID: "1", SHA256: "x"}, {Name: "a", ID: "1", SHA256: "y"}, {Name: "a", ID: "2"}, {Name: "b"}}, sorted)
	require.Equal(t, "b", inputs[0].Name)
}

func TestTheManifestOfEachKindOfRunNamesItsModel(t *testing.T) {
	t.Parallel()
	meta := manifest.Meta{Model: manifest.ModelVersion{Name: "reviews", Version: 4}}
	for name, tc := range map[string]struct {
		result results.Result
		want   *manifest.Model
	}{
		"a training": {
			results.Result{Kind: results.ResultTraining, Model: results.Model{Base: "bert", WeightsSHA256: sum("6")}},
			&manifest.Model{Base: "bert", Name: "reviews", Version: 4, WeightsSHA256: sum("6")},
		},
		"a script": {results.Result{Kind: results.ResultScript, Script: &results.Script{Entry: "main.py"}, Partial: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := manifest.New(meta, &tc.result)
			require.Equal(t, tc.want, m.Model)
			require.Equal(t, tc.result.Script != nil, m.Script != nil)
			if m.Script != nil {
				require.True(t, m.Script.Failed, "outputs of a failed script are not taken for results")
			}
		})
	}
}
