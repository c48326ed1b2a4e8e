package job_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

func TestSettingsAreReadFromTheValuesOfTheForm(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		values string
		want   job.Settings
	}{
		"nothing":    {`{}`, job.Settings{}},
		"a training": {`{"run_name":"films","num_workers":2,"use_gpu":"yes","profile":"small","max_minutes":90,"epochs":3}`, job.Settings{RunName: "films", Workers: 2, GPU: true, Profile: "small", MaxDuration: 90 * time.Minute}},
		"a profile that leaves the choice to the service": {`{"profile":"auto","use_gpu":"auto"}`, job.Settings{}},
		"a prediction":                       {`{"model":"films/2","model_file":"","write":"both"}`, job.Settings{Model: "films/2", Write: "both"}},
		"a request about a run":              {`{"action":"cancel","run":"ft-one"}`, job.Settings{Action: "cancel", Run: "ft-one"}},
		"values of other types are not used": {`{"run_name":7,"max_minutes":"soon","use_gpu":true}`, job.Settings{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got job.Settings
			require.NoError(t, json.Unmarshal([]byte(tc.values), &got))
			doc, err := json.Marshal(got)
			require.NoError(t, err)
			require.JSONEq(t, tc.values, string(doc), "every value is kept")
			got.Values = nil
			require.Equal(t, tc.want, got)
		})
	}
}

func TestNumbersMeanTheSameBeforeAndAfterTheyWereStored(t *testing.T) {
	t.Parallel()
	for _, minutes := range []any{5, int64(5), 5.0} {
		require.Equal(t, 5*time.Minute, job.NewSettings(map[string]any{"max_minutes": minutes}).MaxDuration)
	}
}

func TestTheNameOfTheModelIsFoundAsTheTrainerFindsIt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ field, options, want string }{
		"nowhere":                       {"", "epochs: 2", ""},
		"in the field of the long form": {"films", "register_as: other", "films"},
		"in a line":                     {"", "epochs: 2\n output.register_as : 'Stars!' # mine\n", "Stars!"},
		"without its group":             {"", "register_as=birds", "birds"},
		"with a colon in the value":     {"", `register_as = "a:b"`, "a:b"},
		"not in a comment":              {"", "# register_as: films", ""},
		"not in another option":         {"", "not_register_as: films\nnote: register_as", ""},
		"with Windows line ends":        {"", "epochs: 1\r\nregister_as: films\r\n", "films"},
	} {
		values := map[string]any{"output.register_as": tc.field, "more_options": tc.options}
		require.Equal(t, tc.want, job.NewSettings(values).RegisterAs, name)
	}
}

func TestARecordOfAnOlderVersionKeepsItsSettings(t *testing.T) {
	t.Parallel()
	const stored = `{"run":"ft-one","request":{"key":"k","api_version":2,"kind":"dataset","resource_id":"d","body_hash":"h","received":"2026-01-02T03:04:05Z"},` +
		`"state":"running","attempt":1,"settings":{"max_minutes":30,"epochs":3},` +
		`"created":"2026-01-02T03:04:05Z","updated":"2026-01-02T03:04:05Z"}`
	var rec job.Record
	require.NoError(t, json.Unmarshal([]byte(stored), &rec))
	require.Equal(t, 30*time.Minute, rec.Settings.MaxDuration)
	doc, err := json.Marshal(rec)
	require.NoError(t, err)
	require.JSONEq(t, stored, string(doc))
	rec.Settings = job.Settings{}
	doc, err = json.Marshal(rec)
	require.NoError(t, err)
	require.NotContains(t, string(doc), "settings")
}
