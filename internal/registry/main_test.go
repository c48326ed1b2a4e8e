package registry_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/internal/registry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const films, birds = "655fd7c3e4b0a1b2c3d4e5f6", "655fd7c3e4b0a1b2c3d4e5f7"

// shelf is a registry and the folder from which runs bring their models.
type shelf struct {
	*registry.Registry
	dir, runs string
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	dir := t.TempDir()
	return &shelf{Registry: registry.New(filepath.Join(dir, "registry")), dir: filepath.Join(dir, "registry"), runs: filepath.Join(dir, "runs")}
}

// trained is a run's model: its files lie in the returned folder.
func (s *shelf) trained(t *testing.T, run string) (registry.Version, string) {
	t.Helper()
	v := registry.Version{
		Name: "Film reviews", Run: run, DatasetID: films, DatasetName: "Film reviews", Task: "text-classification", Kind: "text", Base: "bert-tiny",
		Labels: []string{"no", "yes"}, Metric: "accuracy", Test: &registry.Score{Value: 0.9, N: 40}, Created: time.Unix(int64(len(run)), 0).UTC(),
	}
	from := filepath.Join(s.runs, run, "out", "model")
	for path, body := range map[string]string{"model.safetensors": "weights of " + run, "tokenizer/vocab.txt": "a\nb\n"} {
		sum := sha256.Sum256([]byte(body))
		v.Files = append(v.Files, registry.File{Path: path, Size: int64(len(body)), SHA256: hex.EncodeToString(sum[:])})
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(from, path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(from, path), []byte(body), 0o600))
		if path == "model.safetensors" {
			v.WeightsSHA256 = hex.EncodeToString(sum[:])
		}
	}
	return v, from
}

// register brings one run's model in.
func (s *shelf) register(t *testing.T, run string, alter ...func(*registry.Version)) registry.Version {
	t.Helper()
	v, from := s.trained(t, run)
	for _, f := range alter {
		f(&v)
	}
	got, err := s.Register(t.Context(), v, from, first)
	require.NoError(t, err)
	return got
}

func in(dataset string) func(*registry.Version) {
	return func(v *registry.Version) { v.DatasetID = dataset }
}

// first makes the first version the champion and no other.
func first(champion *registry.Version) (bool, string) {
	return champion == nil, "it is the first"
}

func always(*registry.Version) (bool, string) { return true, "it is better" }
