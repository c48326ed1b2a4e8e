//go:build integration

package hubtest_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/hub/hubtest"
)

// script runs the client library of the Hub and prints what happened.
const script = `
import json, sys
from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import HfHubHTTPError
id, revision, folder, token = sys.argv[1:]
token = token or False
try:
    info = HfApi().model_info(id, revision=revision, files_metadata=True, token=token)
    files = {s.rfilename: {"size": s.size, "sha1": s.blob_id, "sha256": s.lfs.sha256 if s.lfs else ""} for s in info.siblings}
    snapshot_download(id, revision=revision, local_dir=folder, token=token, max_workers=1)
    print(json.dumps({"commit": info.sha, "files": files, "license": info.card_data.license if info.card_data else None}))
except HfHubHTTPError as error:
    print(json.dumps({"error": type(error).__name__}))
`

type answer struct {
	Commit, License, Error string
	Files                  map[string]struct {
		Size         int
		SHA1, SHA256 string
	}
}

// ask runs the client library of the Hub against the double.
func ask(t *testing.T, double *hubtest.Hub, id, revision, token string) (got answer, folder string) {
	t.Helper()
	folder = t.TempDir()
	python := os.Getenv("RAY_PYTHON")
	if python == "" {
		python = "python3"
	}
	cmd := exec.CommandContext(t.Context(), python, "-c", script, id, revision, folder, token)
	cmd.Env = append(os.Environ(), "HF_ENDPOINT="+double.URL, "HF_HUB_DISABLE_XET=1", "HF_HUB_OFFLINE=0", "HF_HOME="+t.TempDir(), "NO_PROXY=127.0.0.1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	require.NoError(t, json.Unmarshal(out, &got), string(out))
	return got, folder
}

func TestTheClientLibraryOfTheHubLoadsAModelFromTheDouble(t *testing.T) {
	t.Parallel()
	repo := hubtest.Repo{License: "mit", Revisions: []string{"refs/pr/1"}, Files: map[string][]byte{
		"config.json": []byte("{}"), "sub folder/vocab.txt": []byte("a\nb\n"), "empty.txt": {}, "model.safetensors": bytes.Repeat([]byte("weights "), 5000),
	}}
	double := hubtest.New(t, map[string]hubtest.Repo{"org/model": repo}, hubtest.WithToken("token"))
	for _, revision := range []string{"main", "refs/pr/1", double.Commit("org/model")} {
		got, folder := ask(t, double, "org/model", revision, "token")
		require.Empty(t, got.Error)
		require.Equal(t, double.Commit("org/model"), got.Commit)
		require.Equal(t, "mit", got.License)
		require.Len(t, got.Files, len(repo.Files))
		for name, content := range repo.Files {
			read, err := os.ReadFile(filepath.Join(folder, name))
			require.NoError(t, err)
			require.Equal(t, content, append([]byte{}, read...))
			require.Equal(t, len(content), got.Files[name].Size)
			require.Equal(t, hubtest.GitSHA1(content), got.Files[name].SHA1)
			if len(content) >= hubtest.LargeFrom {
				require.Equal(t, hubtest.SHA256(content), got.Files[name].SHA256)
			}
		}
	}
	require.False(t, double.Leaked())
}

func TestTheClientLibraryOfTheHubKnowsTheErrorsOfTheDouble(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{"config.json": []byte("{}")}
	double := hubtest.New(t, map[string]hubtest.Repo{"org/model": {Files: files}, "org/gated": {Files: files, Gated: true}}, hubtest.WithToken("token"))
	for want, tc := range map[string]struct{ id, revision, token string }{
		"RepositoryNotFoundError": {"org/missing", "main", ""},
		"RevisionNotFoundError":   {"org/model", "v9", ""},
		"GatedRepoError":          {"org/gated", "main", ""},
		"HfHubHTTPError":          {"org/model", "main", "another"},
	} {
		got, _ := ask(t, double, tc.id, tc.revision, tc.token)
		require.Equal(t, want, got.Error)
	}
}
