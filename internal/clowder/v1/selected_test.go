package v1_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
	"github.com/ncsa/clowder-ray/internal/job"
)

func TestSelectedDatasetsOfTheDouble(t *testing.T) {
	t.Parallel()
	runSelected(t, doubleSite(t))
}

// runSelected lists what collections and spaces hold. It is written for the real Clowder v1, too.
func runSelected(t *testing.T, at site) {
	t.Helper()
	client := clienttest.New(t, clowder.Config{URLs: map[int]string{1: at.url}})
	s := session(t, client, at.key)
	name := fmt.Sprintf("selected %d", time.Now().UnixNano())
	dataset, err := s.CreateDataset(t.Context(), name, "made by a test")
	require.NoError(t, err)
	for _, tc := range []struct {
		holder       clowder.Holder
		make, attach string
	}{
		{clowder.Collection, "collections", "collections/%s/datasets/%s"},
		{clowder.Space, "spaces", "spaces/%s/addDatasetToSpace/%s"},
	} {
		id := made(t, at, tc.make, map[string]string{"name": name, "description": "made by a test"})
		none, err := s.Selected(t.Context(), clowder.Selection{Holder: tc.holder, Value: id})
		require.NoError(t, err)
		require.Empty(t, none)
		made(t, at, fmt.Sprintf(tc.attach, id, dataset), map[string]string{})
		refs, err := s.Selected(t.Context(), clowder.Selection{Holder: tc.holder, Value: id})
		require.NoError(t, err)
		require.Equal(t, []clowder.Ref{{ID: dataset, Name: name}}, refs)
		_, err = s.Selected(t.Context(), clowder.Selection{Holder: tc.holder, Value: missingID})
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
	}
	_, err = s.Selected(t.Context(), clowder.Selection{Holder: clowder.Search, Value: "plot"})
	clienttest.RequireKind(t, err, job.KindPermanent, 0)
}

// made posts to the API and returns the id of what it made, where it made something.
func made(t *testing.T, at site, path string, body map[string]string) string {
	t.Helper()
	doc, err := json.Marshal(body)
	require.NoError(t, err)
	status, answer := raw{at, at.key}.call(t, http.MethodPost, "/api/"+path, "application/json", string(doc))
	require.Equal(t, http.StatusOK, status, path)
	var out struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal([]byte(answer), &out) // some answers are no object
	return out.ID
}
