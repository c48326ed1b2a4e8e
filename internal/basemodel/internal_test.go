package basemodel

import (
	"errors"
	"fmt"
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
