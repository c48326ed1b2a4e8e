package attempt

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/registry"
)

func TestAnAnswerToAnOldRecordLeadsToItsModel(t *testing.T) {
	t.Parallel()
	shared := volume.Volume{Dir: t.TempDir()}
	s := Submitter{Volume: shared, Registry: registry.New(shared.Registry())}
	rec := jobtest.Record("ft-one", "h")
	rec.Model = json.RawMessage(`{"schema":1,"name":"films","version":2,"run":"ft-old","dataset_id":"` + rec.Request.DatasetID + `"}`)
	v, err := model.Of(rec)
	require.NoError(t, err)
	spec, err := s.specModel("ft-one", *v)
	require.NoError(t, err)
	require.Equal(t, "../../registry/"+rec.Request.DatasetID+"/films/2/model", spec.Path)
}
