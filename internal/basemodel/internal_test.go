package basemodel

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

func TestTheLicenseIsReadFromACard(t *testing.T) {
	t.Parallel()
	for card, want := range map[string]string{
		"---\nlicense: mit\n---\n# x":                         "mit",
		"---\r\nlicense: mit\r\n---\r\n":                      "mit",
		"---\nlicense:\n- mit\n---\n":                         "mit",
		"---\nlicense: [mit, apache-2.0]\n---\n":              "mit, apache-2.0",
		"---\nlanguage: en\nlicense: \"apache-2.0\"\n---\n":   "apache-2.0",
		"---\nlicense: other\nlicense_name: gemma\n---\n":     "gemma",
		"---\nlicense: other\n---\n":                          "other",
		"---\nlicense: 3\n---\n":                              "",
		"---\nlicense: mit\n":                                 "",
		"# A model\nlicense: mit\n":                           "",
		"---\n: {\n---\n":                                     "",
		"":                                                    "",
		"---\na: &a [x,x]\nb: &b [*a,*a]\nlicense: *b\n---\n": "",
		"---\nlicense: \"mit\\u202e\\n\\e[31m\"\n---\n":       "mit [31m",
		"---\nlicense: mit\ntags:\n- a\n---\nlicense: another one in it\n---": "mit",
	} {
		require.Equal(t, want, cardLicense([]byte(card)), card)
	}
}

func TestAFullDiskIsASentence(t *testing.T) {
	t.Parallel()
	for _, errno := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		err := diskError("store x", fmt.Errorf("write: %w", &os.PathError{Op: "write", Path: "x", Err: errno}))
		require.EqualError(t, err, "The shared volume is full. Free some room and run the command again; it goes on where it stopped.")
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind)
	}
	require.ErrorContains(t, diskError("store x", syscall.EROFS), "Run the command as the user of the service.")
	require.EqualError(t, diskError("store x", errors.New("y")), "store x: y")
	require.NoError(t, diskError("store x", nil))
}

func TestAFolderIsReplacedAlsoWhereTwoCannotBeExchanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{".part/x", "a/b", ".old"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".part/x/new"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a/b/old"), nil, 0o600))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	require.NoError(t, renameBoth(root, ".part/x", "a/b", ".old/b"))
	require.FileExists(t, filepath.Join(dir, "a/b/new"))
	require.FileExists(t, filepath.Join(dir, ".old/b/old"))
	require.NoDirExists(t, filepath.Join(dir, ".part/x"))
	require.NotEqual(t, stamp(time.Unix(1, 1)), stamp(time.Unix(1, 2)))
}

func FuzzCardLicense(f *testing.F) {
	f.Add([]byte("---\nlicense:\n- mit\n---\n"))
	f.Fuzz(func(t *testing.T, card []byte) {
		require.LessOrEqual(t, len([]rune(cardLicense(card))), maxLicense)
	})
}

func FuzzReadArchive(f *testing.F) {
	var doc bytes.Buffer
	w := zip.NewWriter(&doc)
	for _, name := range []string{"a/b/config.json", "a/b/model.json", "a/b/model.safetensors"} {
		out, err := w.Create(name)
		require.NoError(f, err)
		_, err = out.Write([]byte(`{"schema":1}`))
		require.NoError(f, err)
	}
	require.NoError(f, w.Close())
	f.Add(doc.Bytes())
	f.Fuzz(func(t *testing.T, doc []byte) {
		models, err := readArchive(bytes.NewReader(doc), int64(len(doc)))
		if err != nil {
			return
		}
		for _, from := range models {
			offer, err := from.Look(t.Context())
			if err != nil {
				continue
			}
			for _, file := range offer.Files {
				require.GreaterOrEqual(t, file.Size, int64(0))
				if r, err := from.Open(t.Context(), file, 0); err == nil {
					_, _ = io.CopyN(io.Discard, r, 1<<16)
					require.NoError(t, r.Close())
				}
			}
		}
	})
}
