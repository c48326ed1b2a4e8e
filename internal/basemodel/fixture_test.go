package basemodel_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/basemodel"
	"github.com/ncsa/clowder-ray/internal/disk"
)

const tiny = "prajjwal1/bert-tiny"

// bert is a model of a few values, complete as transformers wants it. seed makes its weights differ.
func bert(seed byte) map[string][]byte {
	return map[string][]byte{
		"config.json":       []byte(`{"model_type": "bert", "architectures": ["BertModel"], "hidden_size": 4, "num_hidden_layers": 1}`),
		"vocab.txt":         []byte("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nword\n"),
		"README.md":         []byte("---\nlicense: mit\n---\n# A model\n"),
		"model.safetensors": weightsOf(`{"bert.embeddings.word_embeddings.weight":{"dtype":"F32","shape":[6,4],"data_offsets":[0,96]}}`, bytes.Repeat([]byte{seed}, 96)),
	}
}

// weightsOf writes a file with this header and these values.
func weightsOf(header string, values []byte) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), values...)
}

// with returns files with others added; nil removes one.
func with(files, more map[string][]byte) map[string][]byte {
	out := maps.Clone(files)
	maps.Copy(out, more)
	maps.DeleteFunc(out, func(_ string, content []byte) bool { return content == nil })
	return out
}

// memory is a source in memory.
type memory struct {
	offer basemodel.Offer
	files map[string][]byte
	// read spoils what is read, by path.
	read map[string]func(content []byte) io.Reader
	// opened counts the files that were opened at an offset.
	opened, resumed atomic.Int64
}

// source offers files as the Hub does, with their hashes.
func source(id, commit string, files map[string][]byte) *memory {
	m := &memory{offer: basemodel.Offer{ID: id, Source: basemodel.SourceHub, Endpoint: "https://hub.example.org", Commit: commit, License: "mit"}, files: files}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256(files[name])
		m.offer.Files = append(m.offer.Files, basemodel.File{Path: name, Size: int64(len(files[name])), SHA256: hex.EncodeToString(sum[:])})
	}
	return m
}

func (m *memory) Look(context.Context) (basemodel.Offer, error) { return m.offer, nil }

func (m *memory) Open(_ context.Context, f basemodel.File, offset int64) (io.ReadCloser, error) {
	m.opened.Add(1)
	if offset > 0 {
		m.resumed.Add(1)
	}
	content := m.files[f.Path][offset:]
	if spoil := m.read[f.Path]; spoil != nil {
		return io.NopCloser(spoil(content)), nil
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

// store returns an empty store and the path of its folder.
func store(t *testing.T) (*basemodel.Store, string) {
	t.Helper()
	volume := t.TempDir()
	return basemodel.New(disk.Folder{Volume: volume, Name: "models"}), filepath.Join(volume, "models")
}

// install plans and installs.
func install(t *testing.T, s *basemodel.Store, from basemodel.Source, o basemodel.Options) (basemodel.Model, error) {
	t.Helper()
	plan, err := s.Plan(t.Context(), from, o)
	if err != nil {
		return basemodel.Model{}, err
	}
	return s.Install(t.Context(), plan, nil)
}

// folder writes files into a new folder.
func folder(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	return dir
}

// archive writes files into a new ZIP file.
func archive(t *testing.T, files map[string][]byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "models.zip")
	f, err := os.Create(name)
	require.NoError(t, err)
	w := zip.NewWriter(f)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		out, err := w.Create(name)
		require.NoError(t, err)
		_, err = out.Write(files[name])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	return name
}

// contents reads all files of a folder.
func contents(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	all := map[string][]byte{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		all[e.Name()] = content
	}
	return all
}
