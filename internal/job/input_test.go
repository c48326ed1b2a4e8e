package job_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

func TestTheSettingsFileIsTheOneThatTheTrainerReads(t *testing.T) {
	t.Parallel()
	inputs := []job.Input{
		{ID: "1", Name: "train.csv"},
		{ID: "2", Name: "old/finetune.yaml", Version: 2},
		{ID: "3", Name: "finetune.yml", Version: 4, SHA256: "s"},
		{ID: "4", Name: "a/other.yaml"},
		{ID: "5", Name: "Finetune.JSON"},
	}
	for name, c := range map[string]struct {
		inputs []job.Input
		chosen string
		want   *job.SettingsFile
	}{
		"the one nearest to the root, by name": {inputs, "", &job.SettingsFile{ID: "5", Name: "Finetune.JSON"}},
		"a chosen id":                          {inputs, "3", &job.SettingsFile{ID: "3", Name: "finetune.yml", Version: 4, SHA256: "s"}},
		"a chosen path":                        {inputs, "old/finetune.yaml", &job.SettingsFile{ID: "2", Name: "old/finetune.yaml", Version: 2}},
		"a chosen name":                        {inputs, "other.yaml", &job.SettingsFile{ID: "4", Name: "a/other.yaml"}},
		"a chosen one that is not there":       {inputs, "gone.yaml", nil},
		"none":                                 {inputs[:1], "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, job.SettingsFileOf(c.inputs, c.chosen))
		})
	}
}
