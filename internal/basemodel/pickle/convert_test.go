package pickle_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/internal/basemodel/pickle"
	"github.com/ncsa/clowder-ray/internal/basemodel/safetensors"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// described is type, shape and sha256 of a tensor, as testdata/write.py writes it.
type described [3]any

func TestATensorHasTheBytesThatTorchReads(t *testing.T) {
	t.Parallel()
	requireSameAsTorch(t, "testdata")
}

// requireSameAsTorch compares the conversion of zip.bin and old.bin in dir with torch.json beside them.
func requireSameAsTorch(t *testing.T, dir string) {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join(dir, "torch.json"))
	require.NoError(t, err)
	var want map[string]described
	require.NoError(t, json.Unmarshal(doc, &want))
	require.Greater(t, len(want), 20)
	var first []byte
	for _, name := range []string{"zip.bin", "old.bin"} {
		checkpoint, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		out, result := convert(t, checkpoint)
		require.Equal(t, map[string]string{"decoder.weight": "embeddings.weight"}, result.Shared, name)
		got := described3(t, out)
		require.Equal(t, want["decoder.weight"], got["embeddings.weight"], name)
		got["decoder.weight"] = want["decoder.weight"]
		require.Equal(t, want, got, name)
		if first == nil {
			first = out
		}
		require.Equal(t, first, out, "both formats give the same file")
	}
}

func convert(t *testing.T, checkpoint []byte) ([]byte, pickle.Result) {
	t.Helper()
	var out bytes.Buffer
	result, err := pickle.Convert(t.Context(), bytes.NewReader(checkpoint), int64(len(checkpoint)), &out)
	require.NoError(t, err)
	return out.Bytes(), result
}

// described3 reads a safetensors file.
func described3(t *testing.T, file []byte) map[string]described {
	t.Helper()
	tensors, err := safetensors.ReadHeader(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	at := 8 + binary.LittleEndian.Uint64(file)
	found := map[string]described{}
	for _, tensor := range tensors {
		size := uint64(tensor.Bytes())
		require.Zero(t, (at-8)%min(8, max(1, size/uint64(max(1, tensor.Numbers())))), "%s is aligned", tensor.Name)
		sum := sha256.Sum256(file[at : at+size])
		shape := []any{}
		for _, n := range tensor.Shape {
			shape = append(shape, float64(n))
		}
		found[tensor.Name] = described{tensor.Type, shape, hex.EncodeToString(sum[:])}
		at += size
	}
	require.Len(t, file, int(at))
	return found
}

func TestAConversionEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	checkpoint, err := os.ReadFile(filepath.Join("testdata", "zip.bin"))
	require.NoError(t, err)
	_, err = pickle.Convert(ctx, bytes.NewReader(checkpoint), int64(len(checkpoint)), &bytes.Buffer{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestAFileThatIsCutAnywhereIsRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"zip.bin", "old.bin"} {
		checkpoint, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		for length := range checkpoint {
			_, err := pickle.Convert(t.Context(), bytes.NewReader(checkpoint[:length]), int64(length), &bytes.Buffer{})
			require.ErrorIs(t, err, pickle.ErrRefused, "%s cut after %d bytes", name, length)
		}
	}
}

func FuzzConvert(f *testing.F) {
	for _, name := range []string{"zip.bin", "old.bin"} {
		checkpoint, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(f, err)
		f.Add(checkpoint)
	}
	for _, c := range hostile {
		f.Add(c.file(f))
	}
	f.Fuzz(func(t *testing.T, checkpoint []byte) {
		var out bytes.Buffer
		result, err := pickle.Convert(t.Context(), bytes.NewReader(checkpoint), int64(len(checkpoint)), &out)
		if err != nil {
			require.ErrorIs(t, err, pickle.ErrRefused)
			return
		}
		tensors, err := safetensors.ReadHeader(bytes.NewReader(out.Bytes()), int64(out.Len()))
		require.NoError(t, err)
		require.Len(t, tensors, len(result.Tensors))
	})
}
