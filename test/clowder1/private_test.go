//go:build clowder1

package clowder1

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/test/stack"
)

// TestClowder1PrivateExtractors: alice alone sees her extractors on the page where datasets are submitted, and their jobs arrive.
func TestClowder1PrivateExtractors(t *testing.T) {
	r := newRig(t)
	const key = "keyofalice"
	name := "private." + key + "." + stack.Extractor
	s := r.serve(map[string]string{"EXTRACTOR_KEY": key, "CLOWDER_EMAIL": "alice@example.org"})
	dataset, _ := r.dataset("Private")
	page := "/datasets/" + dataset + "/extractions"
	require.Eventually(t, func() bool {
		text, status := r.do(http.MethodGet, page, "", nil)
		return status == http.StatusOK && strings.Contains(text, name)
	}, stack.StepTimeout, 200*time.Millisecond, "alice does not see %s", name)
	text, status := r.doAs(r.admin, http.MethodGet, page, "", nil)
	require.NotContains(t, text, name, "somebody else sees it: %d", status)
	r.submit("datasets", dataset, name, nil)
	lines := r.awaitLine("/datasets/"+dataset, "DONE", 1)
	require.Equal(t, 1, count(lines, "Results in folder finetune/"), "%q", lines)
	require.NoError(t, s.Stop(30*time.Second))
}
