package folder_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/platform/folder"
	"github.com/ncsa/clowder-ray/internal/platform/ignore"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
)

// dataset writes files into a new folder and returns it with its platform.
func dataset(t *testing.T, files map[string]string) (dir string, p *folder.Platform) {
	t.Helper()
	dir = t.TempDir()
	for name, body := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600))
	}
	p, err := folder.New(dir, filepath.Join(t.TempDir(), "results"))
	require.NoError(t, err)
	return dir, p
}

// input is what a staged file with this content is.
func input(name, body string) job.Input {
	sum := sha256.Sum256([]byte(body))
	return job.Input{Name: name, Path: name, Size: int64(len(body)), SHA256: hex.EncodeToString(sum[:])}
}

func TestADatasetMustBeAFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rows.csv")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for path, want := range map[string]string{
		file:                file + " is a file: name the folder that holds the dataset",
		file + ".not-there": "the dataset folder cannot be read: stat " + file + ".not-there: no such file or directory",
	} {
		_, err := folder.New(path, t.TempDir())
		require.EqualError(t, err, want)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind)
	}
}

func TestEachVisibleFileOfADatasetIsStagedUnderItsOwnName(t *testing.T) {
	t.Parallel()
	dir, p := dataset(t, map[string]string{
		"rows.csv": "a,b\n", "Bäume/Große Eiche 1.txt": "oak", "deep/er/still.txt": "", "a b#c%20.txt": "odd",
		".git/config": "secret", ".env": "secret", "deep/.DS_Store": "x",
	})
	elsewhere := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "shared.csv"), []byte("shared"), 0o600))
	require.NoError(t, os.Symlink(filepath.Join(elsewhere, "shared.csv"), filepath.Join(dir, "linked.csv")))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(dir, "linked folder")))
	require.NoError(t, os.Symlink("rows.csv", filepath.Join(dir, "same.csv")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600)) // to open it would block without end
	want := []job.Input{
		input("Bäume/Große Eiche 1.txt", "oak"), input("a b#c%20.txt", "odd"), input("deep/er/still.txt", ""),
		input("rows.csv", "a,b\n"), input("same.csv", "a,b\n"),
	}
	to := t.TempDir()
	staged, left, err := p.Stage(t.Context(), job.Record{}, disk.Folder{Volume: to, Name: "runs/ft-one/inputs"}, platform.Say{})
	require.NoError(t, err)
	require.Equal(t, want, staged)
	require.Len(t, left, 2)
	require.Equal(t, []string{"linked folder", "linked.csv"}, []string{left[0].Name, left[1].Name})
	listed, err := p.Inputs(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, listed)
	info, err := os.Lstat(filepath.Join(to, "runs/ft-one/inputs/same.csv"))
	require.NoError(t, err)
	require.True(t, info.Mode().IsRegular(), "Ray sees no other folder of this machine, so the link is a copy")
}

func TestADatasetMayBeALinkToAFolder(t *testing.T) {
	t.Parallel()
	dir, _ := dataset(t, map[string]string{"rows.csv": "a,b\n"})
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	p, err := folder.New(link, t.TempDir())
	require.NoError(t, err)
	staged, left, err := p.Stage(t.Context(), job.Record{}, disk.Folder{Volume: t.TempDir()}, platform.Say{})
	require.NoError(t, err)
	require.Equal(t, []job.Input{input("rows.csv", "a,b\n")}, staged)
	require.Empty(t, left)
}

func TestAStagingThatIsRepeatedReplacesWhatTheFirstOneLeft(t *testing.T) {
	t.Parallel()
	_, p := dataset(t, map[string]string{"rows.csv": "new", "sub/rows.csv": "new"})
	to := t.TempDir()
	victim := filepath.Join(t.TempDir(), "victim")
	require.NoError(t, os.WriteFile(victim, []byte("mine"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(to, "sub"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(to, "sub", "rows.csv"), []byte("a longer torn file"), 0o600))
	require.NoError(t, os.Symlink(victim, filepath.Join(to, "rows.csv"))) // a training of the attempt before can have put it there
	for range 2 {
		_, _, err := p.Stage(t.Context(), job.Record{}, disk.Folder{Volume: to}, platform.Say{})
		require.NoError(t, err)
		for _, name := range []string{"rows.csv", "sub/rows.csv"} {
			body, err := os.ReadFile(filepath.Join(to, name))
			require.NoError(t, err)
			require.Equal(t, "new", string(body))
		}
	}
	body, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "mine", string(body))
}

func TestAFolderThatLeadsOutIsNotStagedInto(t *testing.T) {
	t.Parallel()
	_, p := dataset(t, map[string]string{"sub/rows.csv": "new"})
	to, outside := t.TempDir(), t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(to, "sub")))
	_, _, err := p.Stage(t.Context(), job.Record{}, disk.Folder{Volume: to}, platform.Say{})
	require.ErrorContains(t, err, "copy the dataset: ")
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestADatasetThatCannotBeReadIsNotStagedInPart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spoil func(t *testing.T, dir string)
		want  string
	}{
		"a link to nothing": {func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.Symlink("nothing", filepath.Join(dir, "z.csv")))
		}, "z.csv: no such file or directory"},
		"an endless list of what is left out": {func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.WriteFile(filepath.Join(dir, ignore.Name), nil, 0o600))
			require.NoError(t, os.Truncate(filepath.Join(dir, ignore.Name), 1<<40)) // sparse: it takes no room
		}, ".clowderignore: it is larger than 64 KiB: shorten it"},
		"a folder in the place of the list": {func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.Mkdir(filepath.Join(dir, ignore.Name), 0o700))
		}, ".clowderignore: is a directory"},
		"the dataset is gone": {func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.RemoveAll(dir))
		}, "no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, p := dataset(t, map[string]string{"a.csv": "a"})
			tc.spoil(t, dir)
			staged, _, err := p.Stage(t.Context(), job.Record{}, disk.Folder{Volume: t.TempDir()}, platform.Say{})
			require.ErrorContains(t, err, "copy the dataset: ")
			require.ErrorContains(t, err, tc.want)
			require.Empty(t, staged, "a part of a dataset is no dataset")
			_, err = p.Inputs(t.Context())
			require.ErrorContains(t, err, "read the dataset: ")
			require.ErrorContains(t, err, tc.want)
		})
	}
	_, p := dataset(t, map[string]string{"a.csv": "a"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := p.Stage(ctx, job.Record{}, disk.Folder{Volume: t.TempDir()}, platform.Say{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestAnEmptyDatasetIsNoReasonToStageAModel(t *testing.T) {
	t.Parallel()
	dir, p := dataset(t, map[string]string{".hidden": "x"})
	require.NoError(t, p.GiveModel(dir))
	staged, _, err := p.Stage(t.Context(), job.Record{}, disk.Folder{Volume: t.TempDir()}, platform.Say{})
	require.NoError(t, err)
	require.Empty(t, staged, "the job ends with the sentence about a dataset without files")
}

func TestResultsAreDeliveredOnceHoweverOftenTheyAre(t *testing.T) {
	t.Parallel()
	volume, out := t.TempDir(), filepath.Join(t.TempDir(), "made", "results")
	p, err := folder.New(t.TempDir(), out)
	require.NoError(t, err)
	var d platform.Delivery
	for name, body := range map[string]string{"report.html": "<p>fine", "plots/loss.png": "png"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(volume, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(volume, name), []byte(body), 0o600))
		in := input(name, body)
		d.Artifacts = append(d.Artifacts, delivery.Artifact{Name: name, Folder: disk.Folder{Volume: volume}, Size: in.Size, SHA256: in.SHA256})
	}
	for range 2 {
		where, err := p.Deliver(t.Context(), job.Record{}, d, platform.LedgerFile{}, nil)
		require.NoError(t, err)
		require.Equal(t, "Results in "+out, where)
		var files []string
		require.NoError(t, filepath.WalkDir(out, func(path string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				rel, _ := filepath.Rel(out, path)
				files = append(files, rel)
			}
			return err
		}))
		require.Equal(t, []string{"plots/loss.png", "report.html"}, files)
	}
	require.NoError(t, os.WriteFile(filepath.Join(volume, "report.html"), []byte("<p>evil"), 0o600))
	_, err = p.Deliver(t.Context(), job.Record{}, d, platform.LedgerFile{}, nil)
	require.ErrorContains(t, err, "another program changed it after it was checked")
	require.NoFileExists(t, filepath.Join(out, "report.html.part"))
	body, err := os.ReadFile(filepath.Join(out, "report.html"))
	require.NoError(t, err)
	require.Equal(t, "<p>fine", string(body), "what was delivered stays")
	require.NoError(t, os.RemoveAll(out))
	require.NoError(t, os.WriteFile(out, nil, 0o600))
	_, err = p.Deliver(t.Context(), job.Record{}, d, platform.LedgerFile{}, nil)
	require.ErrorContains(t, err, "make the output folder: ")
}
