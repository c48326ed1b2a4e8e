package job_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/options"
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

func TestSettingsSayWhatCountsOfAllSources(t *testing.T) {
	t.Parallel()
	form := map[string]any{"max_minutes": int64(60), "use_gpu": "auto", "profile": "small", "run_name": "films"}
	resolved := options.Resolved{Values: map[string]any{
		"max_minutes": int64(600), "use_gpu": "yes", "num_workers": int64(4), "register_as": "stars", "label_from": "metadata.species", "dry_run": true, "run_name": "films",
	}}
	got := job.NewSettings(form).Resolved(job.Train, resolved)
	require.Equal(t, job.Settings{
		RunName: "films", RegisterAs: "stars", LabelFrom: "metadata.species", Workers: 4, GPU: true, Profile: "small", MaxDuration: 10 * time.Hour, DryRun: true, Values: form,
	}, got)
	for name := range resolved.Values {
		require.True(t, options.Of("train").Named(name).Service, "%s is marked as read by the service", name)
	}

	rec := job.Record{Run: "ft-one", Kind: job.Train, Settings: job.NewSettings(form)}
	rec.Resolve(resolved)
	doc, err := json.Marshal(rec)
	require.NoError(t, err)
	var stored job.Record
	require.NoError(t, json.Unmarshal(doc, &stored))
	require.Equal(t, resolved.Values, stored.Resolved.Values)
	require.Equal(t, "films", stored.Settings.RunName)
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
