package registry_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/registry"
)

// withONNX registers a run whose model has a network for other programs.
func (f *fixture) withONNX(t *testing.T, run, network string) registry.Version {
	t.Helper()
	v, from := f.trained(t, run)
	sum := sha256.Sum256([]byte(network))
	v.Files = append(v.Files, registry.File{Path: registry.ONNXFile, Size: int64(len(network)), SHA256: hex.EncodeToString(sum[:])})
	require.NoError(t, os.WriteFile(filepath.Join(from.Path(), registry.ONNXFile), []byte(network), 0o600))
	got, err := f.Register(t.Context(), v, from, first)
	require.NoError(t, err)
	return got
}

func TestTheNetworkOfAVersionIsReadToItsEndOnlyIfItIsTheRegisteredOne(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	v := s.withONNX(t, "ft-one", "network")
	require.True(t, v.HasONNX())
	path := filepath.Join(s.Model(v).Path(), registry.ONNXFile)
	r, err := s.ONNX(v)
	require.NoError(t, err)
	body, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "network", string(body))
	require.NoError(t, r.Close())

	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, []byte("Network"), 0o600))
	r, err = s.ONNX(v)
	require.NoError(t, err, "its size is right, so only its bytes can tell")
	_, err = io.ReadAll(r)
	require.ErrorIs(t, err, disk.ErrChanged)
	require.NoError(t, r.Close())

	for name, plant := range map[string]func() error{
		"a longer one":      func() error { return os.WriteFile(path, []byte("network and more"), 0o600) },
		"a link to its old": func() error { return os.Symlink("model.safetensors", path) },
		"nothing":           func() error { return nil },
	} {
		require.NoError(t, os.RemoveAll(path))
		require.NoError(t, plant(), name)
		_, err = s.ONNX(v)
		require.Error(t, err, name)
	}
	require.NoError(t, os.RemoveAll(s.Model(v).Path()))
	_, err = s.ONNX(v)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestAVersionWithoutANetworkSaysWhy(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for name, tc := range map[string]struct{ kind, base, want string }{
		"trees": {"table", "trees", "it is a model of scikit-learn, which is stored as tensors and JSON; models export writes them"},
		"words": {"text", "words", "it is a model of scikit-learn, which is stored as tensors and JSON; models export writes them"},
		"a network of an old version": {
			"text", "bert-tiny", "models of its kind have none, or it was trained before networks were delivered with one, or a note of the run ft-one says why it was left out; " +
				"models export writes this model in its own form",
		},
	} {
		v := registry.Version{Name: "films", Version: 3, Run: "ft-one", Kind: tc.kind, Base: tc.base, Files: []registry.File{{Path: "sub/model.onnx"}}}
		require.False(t, v.HasONNX(), "a file in a folder of the model is another one")
		_, err := s.ONNX(v)
		require.EqualError(t, err, "films/3 has no model.onnx: "+tc.want, name)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind)
	}
}

func TestADigestIdentifiesAVersion(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	one, two := s.register(t, "ft-one"), s.register(t, "ft-two")
	first, err := s.Digest(one)
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-f]{64}$`, first)
	again, err := s.Digest(one)
	require.NoError(t, err)
	require.Equal(t, first, again)
	second, err := s.Digest(two)
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	require.NoError(t, os.Remove(s.file(two, "version.json")))
	_, err = s.Digest(two)
	requireSentence(t, s, err, "the model film-reviews/2 cannot be read: ask the administrator")
}
