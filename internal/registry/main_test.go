package registry_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/registry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Two datasets of one Clowder, which most tests are about.
var (
	films = registry.Dataset{Clowder: "https://clowder.example.org", ID: "655fd7c3e4b0a1b2c3d4e5f6"}
	birds = registry.Dataset{Clowder: "https://clowder.example.org", ID: "655fd7c3e4b0a1b2c3d4e5f7"}
)

// fixture is a registry and the folder from which runs bring their models.
type fixture struct {
	*registry.Registry
	volume, dir string

	mu     sync.Mutex
	faults []string // the paths that were reported to the operator
}

func newShelf(t *testing.T) *fixture {
	t.Helper()
	volume := t.TempDir()
	s := &fixture{Registry: registry.New(disk.Folder{Volume: volume, Name: "registry"}), volume: volume, dir: filepath.Join(volume, "registry")}
	s.OnFault(func(path string, _ error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.faults = append(s.faults, path)
	})
	return s
}

// trained is a run's model: its files lie in the returned folder.
func (f *fixture) trained(t *testing.T, run string) (registry.Version, disk.Folder) {
	t.Helper()
	v := registry.Version{
		Name: "Film reviews", Run: run, Clowder: films.Clowder, DatasetID: films.ID, DatasetName: "Film reviews", Task: "text-classification", Kind: "text", Base: "bert-tiny",
		Labels: []string{"no", "yes"}, Metric: "accuracy", Test: &registry.Score{Value: 0.9, N: 40}, Created: time.Unix(int64(len(run)), 0).UTC(),
	}
	from := disk.Folder{Volume: f.volume, Name: "runs/" + run + "/out/model"}
	for path, body := range map[string]string{"model.safetensors": "weights of " + run, "tokenizer/vocab.txt": "a\nb\n"} {
		sum := sha256.Sum256([]byte(body))
		v.Files = append(v.Files, registry.File{Path: path, Size: int64(len(body)), SHA256: hex.EncodeToString(sum[:])})
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(from.Path(), path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(from.Path(), path), []byte(body), 0o600))
		if path == "model.safetensors" {
			v.WeightsSHA256 = hex.EncodeToString(sum[:])
		}
	}
	return v, from
}

// register brings one run's model in.
func (f *fixture) register(t *testing.T, run string, alter ...func(*registry.Version)) registry.Version {
	t.Helper()
	v, from := f.trained(t, run)
	for _, f := range alter {
		f(&v)
	}
	got, err := f.Register(t.Context(), v, from, first)
	require.NoError(t, err)
	return got
}

func in(of registry.Dataset) func(*registry.Version) {
	return func(v *registry.Version) { v.Clowder, v.DatasetID = of.Clowder, of.ID }
}

// file is the path of a file in the folder of a version.
func (f *fixture) file(v registry.Version, name string) string {
	return filepath.Join(filepath.Dir(f.Model(v).Path()), name)
}

// first makes the first version the champion and no other.
func first(champion *registry.Version) (bool, string) {
	return champion == nil, "it is the first"
}

func always(*registry.Version) (bool, string) { return true, "it is better" }
