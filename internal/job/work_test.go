package job

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARecordOfAnOlderVersionGetsItsKindWhenItIsRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		record string
		want   Work
	}{
		"it names its kind":                       {`{"kind":"script","request":{"extractor":"ncsa.ray.predict"}}`, Script},
		"a training":                              {`{"request":{"extractor":"ncsa.ray.finetune"}}`, Train},
		"a training of the long form":             {`{"request":{"extractor":"ncsa.ray.finetune-advanced"}}`, Train},
		"a training of a form of the operator":    {`{"request":{"extractor":"of.another.service"}}`, Train},
		"it is from before there were several":    {`{"request":{}}`, Train},
		"a prediction":                            {`{"request":{"extractor":"ncsa.ray.predict"}}`, Predict},
		"an automatic run":                        {`{"request":{"extractor":"ncsa.ray.automatic","announced":[{"file":"f"}]}}`, Predict},
		"an automatic run that was made smaller":  {`{"request":{"extractor":"ncsa.ray.automatic"}}`, Predict},
		"an automatic run of a renamed extractor": {`{"request":{"extractor":"renamed","announced":[{"file":"f"}]}}`, Predict},
		"a script":             {`{"request":{"extractor":"ncsa.ray.script"}}`, Script},
		"a request about runs": {`{"request":{"extractor":"ncsa.ray.runs"}}`, Runs},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec, err := (&SQLite{}).scan(row{[]byte(tc.record)})
			require.NoError(t, err)
			require.Equal(t, tc.want, rec.Kind)
			doc, err := json.Marshal(rec)
			require.NoError(t, err)
			require.Contains(t, string(doc), `"kind":"`+string(tc.want)+`"`, "the next write stores it")
		})
	}
}
