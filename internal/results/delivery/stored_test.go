package delivery

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// stored is the model of a fixture as the registry keeps it.
func stored(f *resultstest.Fixture) StoredModel {
	m := StoredModel{
		Dir: f.Run().In("out/model"), Ref: "reviews/3", Run: "ft-old", Made: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC),
		Snippet: "text/text", Facts: []byte(`{"name":"reviews"}`),
	}
	for _, o := range f.Result.Outputs {
		if rel, err := filepath.Rel("out/model", filepath.FromSlash(o.Path)); err == nil && filepath.IsLocal(rel) {
			m.Files = append(m.Files, results.Output{Path: filepath.ToSlash(rel), Size: o.Size, SHA256: o.SHA256})
		}
	}
	return m
}

func TestAStoredModelIsPackedWithHowToLoadIt(t *testing.T) {
	t.Parallel()
	f := newLarge(t)
	m, to := stored(f), f.Run().In("deliver")
	require.Equal(t, []string{"finetune", "2026-11-22-export-reviews-3-abc"}, m.Folder("ft-abc", time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)))
	artifacts, err := m.Build(t.Context(), to)
	require.NoError(t, err)
	require.Len(t, artifacts, 1)
	require.Equal(t, "model.zip", artifacts[0].Name)

	packed := map[string]string{}
	archive := requireWhole(t, artifacts[0])
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	require.NoError(t, err)
	for _, e := range z.File {
		r, err := e.Open()
		require.NoError(t, err)
		body, err := io.ReadAll(r)
		require.NoError(t, err)
		packed[e.Name] = string(body)
	}
	require.Len(t, packed, 2+len(m.Files))
	require.Contains(t, packed["README.md"], "from transformers import pipeline")
	require.JSONEq(t, `{"name":"reviews"}`, packed["version.json"])
	require.Equal(t, string(resultstest.Safetensors(2*inMemory)), packed["model/model.safetensors"])

	before := inFolder(t, f)
	again, err := m.Build(t.Context(), to)
	require.NoError(t, err)
	require.Equal(t, artifacts, again)
	require.Equal(t, before, inFolder(t, f), "what is there and whole is kept")
}

func TestAStoredModelThatHasChangedIsNotHandedOver(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	m := stored(f)
	weights := filepath.Join(m.Dir.Path(), "model.safetensors")
	body, err := os.ReadFile(weights)
	require.NoError(t, err)
	body[len(body)-1]++
	require.NoError(t, os.WriteFile(weights, body, 0o600))
	_, err = m.Build(t.Context(), disk.Folder{Volume: t.TempDir()})
	require.ErrorContains(t, err, "model.safetensors")

	m.Dir = m.Dir.In("gone")
	err = m.Write(t.Context(), new(bytes.Buffer))
	require.ErrorContains(t, err, "open the folder of the model reviews/3")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindRetryable, kind)
}

func TestAStoredNetworkWithWordsBesideItIsPackedWithTheLinesForBoth(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	f.Write(t, "out/model/"+"words.json", []byte("{}"))
	m := stored(f)
	m.Snippet = "text/text_words"
	m.Files = append(m.Files, results.Output{Path: "words.json", Size: 2, SHA256: "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"})
	var packed bytes.Buffer
	require.NoError(t, m.Write(t.Context(), &packed))
	z, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	require.NoError(t, err)
	guide, err := z.Open("README.md")
	require.NoError(t, err)
	defer func() { require.NoError(t, guide.Close()) }()
	body, err := io.ReadAll(guide)
	require.NoError(t, err)
	require.Contains(t, string(body), codeOf(t, "text/text_words"))
}
