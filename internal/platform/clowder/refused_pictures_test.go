package clowder

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
)

func TestPicturesThatClowderRefusesAreDeliveredAllTheSame(t *testing.T) {
	t.Parallel()
	const page = "<!DOCTYPE html><html><h1>Oops, an error occurred</h1></html>"
	for name, tc := range map[string]struct {
		version int
		fault   clowdertest.Fault
		note    string // a part; empty where all is shown after all
	}{
		"v1 refuses the bytes of previews":       {1, clowdertest.Fault{Path: "/api/previews", Status: 400, Body: `"File not attached."`}, "did not accept the request to store a preview (400) (File not attached.)"},
		"v1 answers previews with an error page": {1, clowdertest.Fault{Path: "/api/previews", Status: 500, Body: page}, "had an error when asked to store a preview (500)"},
		"v1 cannot attach previews to files":     {1, clowdertest.Fault{Path: "/previews/", Status: 500, Body: page}, "had an error when asked to show a preview (500)"},
		"the preview is too large for a proxy":   {1, clowdertest.Fault{Path: "/api/previews", Status: 413, Body: page}, "it is too large (413)"},
		"v1 fails once":                          {1, clowdertest.Fault{Path: "/api/previews", Status: 500, Body: page, Times: 1}, ""},
		"v1 fails once after the effect":         {1, clowdertest.Fault{Path: "/previews/", Status: 500, Body: page, After: true, Times: 1}, ""},
		"v1 refuses the thumbnail":               {1, clowdertest.Fault{Path: "/api/fileThumbnail", Status: 400, Body: `"File not attached."`}, "store a thumbnail (400)"},
		"v2 refuses the thumbnail":               {2, clowdertest.Fault{Path: "/thumbnails", Status: 422}, "(422)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDeliveryTo(t, tc.version, alice)
			tc.fault.Method = http.MethodPost
			d.server.Fail(tc.fault)
			require.NoError(t, d.deliver(t, "1", 0))
			if tc.note == "" {
				require.Empty(t, d.said)
				d.requireOneOfEach(t)
				return
			}
			require.Len(t, d.said, 1)
			require.Contains(t, d.said[0], "Note: everything is delivered, but Clowder does not show ")
			require.Contains(t, d.said[0], tc.note)
			require.NotContains(t, d.said[0], "<")
			d.requireAllNoted(t)
			notes, err := d.session(t).Metadata(t.Context(), d.rec.Request.DatasetID)
			require.NoError(t, err)
			require.Len(t, notes, 1)
			d.server.ClearFaults()
			d.saved = d.last
			require.NoError(t, d.deliver(t, "1", 0), "what is not shown stays so, and nothing is delivered twice")
			require.Len(t, d.said, 1)
		})
	}
}

func TestASpaceThatIsRemovedBeforeTheDelivery(t *testing.T) {
	t.Parallel()
	d := newDeliveryTo(t, 1, bob)
	dataset := d.rec.Request.DatasetID
	d.server.Share(dataset, bob, "") // with the space go the roles that it gave
	err := d.deliver(t, "1", 0)
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
	require.ErrorContains(t, err, "it was deleted, or you lack the right to add files to the dataset (editor)")
	for _, path := range []string{"/newFolder", "/uploadToDataset", "/metadata.jsonld"} {
		require.Zero(t, d.server.Requests(http.MethodPost, path), path)
	}
	d.server.Share(dataset, bob, "editor")
	require.NoError(t, d.deliver(t, "1", 0), "a retry goes on")
	d.requireOneOfEach(t)
}
