package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
)

func TestExtractorsNeedDifferentQueuesAndReadableForms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := filepath.Join(dir, "info.json")
	require.NoError(t, os.WriteFile(broken, []byte("{"), 0o600))
	for env, want := range map[string]string{
		"RABBITMQ_QUEUE=ncsa.ray.runs":    "each extractor needs a different name and queue",
		"EXTRACTOR_INFO=" + dir + "/none": "EXTRACTOR_INFO",
		"EXTRACTOR_INFO=" + broken:        "extractor_info.json",
		"KUBERAY_CONFIG=" + dir + "/none": "KUBERAY_CONFIG",
	} {
		set, err := readEnv(env, "SHARED_DIR="+dir)
		require.NoError(t, err)
		_, err = extractors(set, volume.Volume{Dir: set.SharedDir})
		require.ErrorContains(t, err, want, env)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind, env)
	}
	set, err := readEnv("SHARED_DIR=" + dir)
	require.NoError(t, err)
	all, err := extractors(set, volume.Volume{Dir: set.SharedDir})
	require.NoError(t, err)
	require.Equal(t, []string{finetuner, advanced, predictor, scripter, "ncsa.ray.runs"}, all.Names())
}

// TestEachExtractorHasAFormThatClowderDraws, in both versions: the page of v2 submits nothing to an extractor without parameters.schema, and shows
// no page at all of a form with some kinds of fields.
func TestEachExtractorHasAFormThatClowderDraws(t *testing.T) {
	t.Parallel()
	for version, env := range map[string][]string{"v1": {"CLOWDER_VERSION=1"}, "v2": {"CLOWDER_VERSION=2", "AUTOMATIC_AFTER=1m"}} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			set, err := readEnv(append(env, "SHARED_DIR="+t.TempDir())...)
			require.NoError(t, err)
			all, err := extractors(set, volume.Volume{Dir: set.SharedDir})
			require.NoError(t, err)
			require.Len(t, all, map[string]int{"v1": 5, "v2": 6}[version])
			for _, e := range all {
				var beat struct {
					Info struct {
						Parameters struct {
							Schema map[string]map[string]any `json:"schema"`
						} `json:"parameters"`
					} `json:"extractor_info"`
				}
				require.NoError(t, json.Unmarshal(e.Info.Heartbeat(e.Queue, form.Owner{}, "i"), &beat))
				require.NotNil(t, beat.Info.Parameters.Schema, e.Name())
				require.Equal(t, e.Automatic, len(beat.Info.Parameters.Schema) == 0, "%s: only what nobody submits has an empty form", e.Name())
				for name, field := range beat.Info.Parameters.Schema {
					require.Contains(t, []any{"string", "number", "integer", "boolean", "object"}, field["type"], "%s of %s", name, e.Name())
					require.NotContains(t, field, "oneOf", "%s of %s", name, e.Name())
					require.NotContains(t, field, "anyOf", "%s of %s", name, e.Name())
					require.IsNotType(t, true, field["required"], "%s of %s", name, e.Name())
				}
			}
		})
	}
}

func TestTheClientOfClowderNeedsReadableCertificates(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "ca.crt")
	require.NoError(t, os.WriteFile(empty, []byte("x"), 0o600))
	for file, want := range map[string]string{filepath.Join(t.TempDir(), "none"): "no such file", empty: "contains no certificate"} {
		set, err := readEnv("CLOWDER_URL=https://clowder.example.org", "CLOWDER_CA="+file)
		require.NoError(t, err)
		_, err = checkClowder(t.Context(), set)
		require.ErrorContains(t, err, want)
	}
}
