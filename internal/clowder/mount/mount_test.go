package mount_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/mount"
)

func TestFilesAreFoundInTheirFoldersAndNowhereElse(t *testing.T) {
	t.Parallel()
	outer, inner, outside := t.TempDir(), t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(outer, "a", "b.csv"), filepath.Join(inner, "c.csv"), filepath.Join(outside, "secret")} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(filepath.Base(path)), 0o600))
	}
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret"), filepath.Join(outer, "link")))
	require.NoError(t, os.Symlink(outside, filepath.Join(outer, "folder")))
	folders, err := mount.Open(mount.Paths{"/data/": outer, "/data/inner": inner})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, folders.Close()) })
	for path, want := range map[string]string{
		"/data/a/b.csv": "b.csv", "/data/./a//b.csv": "b.csv", "/data/x/../a/b.csv": "b.csv", "/data/inner/c.csv": "c.csv",
		"/data/c.csv": "", "/data": "", "/data/a": "", "/database/b.csv": "", "data/a/b.csv": "", "": "", "/": "", "/data/\x00": "",
		"/data/../" + outside + "/secret": "", "/data/link": "", "/data/folder/secret": "", "/data/a/../../etc/passwd": "",
	} {
		file, info, err := folders.OpenFile(path)
		if want == "" {
			require.Error(t, err, path)
			continue
		}
		require.NoError(t, err, path)
		body, err := io.ReadAll(file)
		require.NoError(t, err)
		require.NoError(t, file.Close())
		require.Equal(t, want, string(body), path)
		require.EqualValues(t, len(want), info.Size())
	}
	require.True(t, folders.Covers("/data/not/there"))
	require.False(t, folders.Covers("/datas/a"))
	require.False(t, mount.Folders(nil).Covers("/data/a"))
}

func TestTheSettingIsAnObjectOfFolders(t *testing.T) {
	t.Parallel()
	for setting, fault := range map[string]string{
		"": "", `{}`: "", `{"/a": "/b"}`: "", `/a`: "JSON object of folders", `["/a"]`: "JSON object of folders", `{"/a": 1}`: "JSON object of folders",
		`{"a": "/b"}`: "absolute paths", `{"/a": "b"}`: "absolute paths", `{"/": "/b"}`: "absolute paths", `{"/a/..": "/b"}`: "absolute paths",
	} {
		_, err := mount.Parse(setting)
		if fault == "" {
			require.NoError(t, err, setting)
			continue
		}
		require.ErrorContains(t, err, fault, setting)
	}
	_, err := mount.Open(mount.Paths{"/a": filepath.Join(t.TempDir(), "missing")})
	require.ErrorContains(t, err, "the folder of /a cannot be opened")
}

func FuzzOpenFile(f *testing.F) {
	for _, path := range []string{"/data/a", "/data/../etc/passwd", "/data/link/x", "data", "/data/\x00"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		folders, err := mount.Open(mount.Paths{"/data": t.TempDir()})
		require.NoError(t, err)
		defer func() { require.NoError(t, folders.Close()) }()
		_, _, err = folders.OpenFile(path)
		require.Error(t, err, "the folder is empty")
	})
}
