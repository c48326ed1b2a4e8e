package model_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
	clowderplatform "github.com/ncsa/clowder-ray/internal/platform/clowder"
	"github.com/ncsa/clowder-ray/internal/platform/platformtest"
	"github.com/ncsa/clowder-ray/internal/registry"
)

const hostA, hostB = "https://a.example.org", "https://b.example.org"

// from is a request that names a host.
func from(host string) job.Request {
	req := jobtest.Record("ft-one", "h").Request
	req.Host = host
	return req
}

func TestTheClowderOfAJobIsCheckedBeforeItsModelsAreTouched(t *testing.T) {
	t.Parallel()
	client, err := clowder.NewClient(clowder.Config{AllowedHosts: []string{hostA + "/"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	clowders := clowderplatform.New(client, platformtest.Extractors(t))
	of, err := model.Dataset(clowders, job.Record{Request: from("https://A.example.org:443")})
	require.NoError(t, err)
	require.Equal(t, registry.Dataset{Clowder: hostA, ID: strings.Repeat("d", 24)}, of)
	_, err = model.Dataset(clowders, job.Record{Request: from(hostB)})
	require.ErrorContains(t, err, "this extractor does not serve")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
}
