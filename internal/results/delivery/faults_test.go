package delivery

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// onDisk builds one deliverable that does not fit in memory, in a folder of its own.
func onDisk(t *testing.T) (Artifact, string) {
	t.Helper()
	dir := t.TempDir()
	made, err := build(t.Context(), disk.Folder{Volume: dir, Name: "deliver"}, "key", nil, []deliverable{large("model.zip")})
	require.NoError(t, err)
	return made[0], filepath.Join(dir, "deliver", "model.zip")
}

// large is a deliverable that does not fit in memory.
func large(name string) deliverable {
	return deliverable{Artifact{Name: name}, func(w io.Writer) error {
		_, err := w.Write(make([]byte, 2*inMemory))
		return err
	}}
}

func TestADeliverableThatIsNotWhatWasBuiltIsNotHandedOver(t *testing.T) {
	t.Parallel()
	const changed = "model.zip is not delivered, because another program changed it after it was checked"
	const writes = "ask the administrator which other program writes to the shared volume, then submit again"
	for name, tc := range map[string]struct {
		damage func(t *testing.T, file string)
		kind   job.Kind
		texts  []string
	}{
		"another byte": {
			func(t *testing.T, file string) {
				t.Helper()
				body := make([]byte, 2*inMemory)
				body[len(body)-1] = 1
				require.NoError(t, os.WriteFile(file, body, 0o600))
			}, job.KindPermanent, []string{changed, writes},
		},
		"a byte less": {
			func(t *testing.T, file string) { t.Helper(); require.NoError(t, os.Truncate(file, 2*inMemory-1)) },
			job.KindPermanent,
			[]string{changed, writes},
		},
		"a byte more": {
			func(t *testing.T, file string) { t.Helper(); require.NoError(t, os.Truncate(file, 2*inMemory+1)) },
			job.KindPermanent,
			[]string{changed, writes},
		},
		"a file that is gone": {
			func(t *testing.T, file string) { t.Helper(); require.NoError(t, os.Remove(file)) },
			job.KindRetryable,
			[]string{"open model.zip"},
		},
		"a folder that is gone": {
			func(t *testing.T, file string) { t.Helper(); require.NoError(t, os.RemoveAll(filepath.Dir(file))) },
			job.KindRetryable,
			[]string{"open the folder of the deliverables"},
		},
		"a link in its place": {
			func(t *testing.T, file string) {
				t.Helper()
				require.NoError(t, os.Rename(file, file+".moved"))
				require.NoError(t, os.Symlink(file+".moved", file))
			}, job.KindPermanent, []string{"open model.zip", "ask the administrator which other program writes to this volume"},
		},
		"a link in the place of the folder": {
			func(t *testing.T, file string) {
				t.Helper()
				dir := filepath.Dir(file)
				require.NoError(t, os.Rename(dir, dir+".moved"))
				require.NoError(t, os.Symlink(dir+".moved", dir))
			}, job.KindPermanent, []string{"open the folder of the deliverables", "ask the administrator which other program writes to this volume"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, file := onDisk(t)
			requireWhole(t, a)
			tc.damage(t, file)
			in, err := a.Open()
			if err == nil {
				_, err = io.ReadAll(in)
				require.NoError(t, in.Close())
			}
			for _, text := range tc.texts {
				require.ErrorContains(t, err, text)
			}
			kind, _ := job.Classify(err)
			require.Equal(t, tc.kind, kind, err.Error())
		})
	}
}

func TestADeliverableInMemoryIsReadByManyAndNeverListed(t *testing.T) {
	t.Parallel()
	made, err := build(t.Context(), disk.Folder{Volume: t.TempDir(), Name: "none"}, "key", nil, []deliverable{
		{Artifact{Name: "a.txt"}, func(w io.Writer) error { _, err := io.WriteString(w, "secret"); return err }},
	})
	require.NoError(t, err)
	for range 2 {
		require.Equal(t, "secret", string(requireWhole(t, made[0])))
	}
	doc, err := json.Marshal(made[0])
	require.NoError(t, err)
	require.NotContains(t, string(doc), "secret")
	require.Equal(t, ShowNone, made[0].Show, "what says nothing of it is not shown")
}

func TestAFullDiskIsSaidBeforeItIsFull(t *testing.T) {
	t.Parallel()
	to := disk.Folder{Volume: t.TempDir(), Name: "deliver"}
	sparse := []results.Output{{Path: "out/a.bin", Size: 1 << 60}}
	_, err := build(t.Context(), to, "key", sparse, []deliverable{large("model.zip")})
	require.ErrorContains(t, err, "make model.zip: ")
	require.ErrorContains(t, err, "the disk of the training service is too full for the results: they need 1 EiB, and ")
	require.ErrorContains(t, err, " is free; ask the administrator to free space")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindRetryable, kind, "a person can free space, and then it goes on")
	require.NoDirExists(t, to.Path())

	small := deliverable{Artifact{Name: "log.txt"}, func(w io.Writer) error { _, err := w.Write([]byte("x")); return err }}
	_, err = build(t.Context(), to, "key", sparse, []deliverable{small})
	require.NoError(t, err, "what stays in memory needs no room")
}

func TestTheFolderOfTheDeliverablesIsMadeByTheService(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]func(path string) error{
		"a file": func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a link": func(path string) error { return os.Symlink(filepath.Dir(path), path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := disk.Folder{Volume: t.TempDir(), Name: "deliver"}
			require.NoError(t, place(to.Path()))
			_, err := build(t.Context(), to, "key", nil, []deliverable{large("model.zip")})
			require.ErrorIs(t, err, disk.ErrNotAllowed)
			require.ErrorContains(t, err, "make model.zip: make the folder of deliverables: ")
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
			require.NoFileExists(t, filepath.Join(to.Volume, "model.zip"))
		})
	}
}

func TestWhatWasBuiltFromSomethingElseIsMadeAnew(t *testing.T) {
	t.Parallel()
	to := disk.Folder{Volume: t.TempDir(), Name: "deliver"}
	times := 0
	plan := []deliverable{{Artifact{Name: "model.zip", Title: "First"}, func(w io.Writer) error {
		times++
		return large("").write(w)
	}}}
	for _, from := range []string{"a", "a", "b", "b", "a"} {
		_, err := build(t.Context(), to, from, nil, plan)
		require.NoError(t, err)
	}
	require.Equal(t, 3, times, "of the same run it is made once")
	_, err := build(t.Context(), to, func() {}, nil, plan)
	require.ErrorContains(t, err, "encode the result: ")
}

func TestTheResultsOnThisMachineAreWholeOrNotThere(t *testing.T) {
	t.Parallel()
	a, _ := onDisk(t)
	note := Artifact{Name: "notes/a.txt", Size: 1, content: []byte("x")}
	for name, tc := range map[string]struct {
		place func(t *testing.T, out string)
		text  string
	}{
		"a file in the place of the folder": {
			func(t *testing.T, out string) { t.Helper(); require.NoError(t, os.WriteFile(out, nil, 0o600)) }, "make the output folder: ",
		},
		"a file in the place of a folder inside": {
			func(t *testing.T, out string) {
				t.Helper()
				require.NoError(t, os.Mkdir(out, 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(out, "notes"), nil, 0o600))
			}, "write notes/a.txt to the output folder: ",
		},
		"a folder in the place of a file": {
			func(t *testing.T, out string) {
				t.Helper()
				require.NoError(t, os.MkdirAll(filepath.Join(out, "model.zip", "x"), 0o755))
			},
			"write model.zip to the output folder: ",
		},
		"a link out of the folder": {
			func(t *testing.T, out string) {
				t.Helper()
				require.NoError(t, os.Mkdir(out, 0o755))
				require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(out, "notes")))
			}, "write notes/a.txt to the output folder: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "out")
			tc.place(t, out)
			require.ErrorContains(t, CopyTo(t.Context(), out, []Artifact{a, note}), tc.text)
			left, err := filepath.Glob(filepath.Join(out, "*.part"))
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

func TestCopyingReplacesALinkAndTheRestOfAnEarlierCopy(t *testing.T) {
	t.Parallel()
	out, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	require.NoError(t, os.WriteFile(victim, []byte("untouched"), 0o600))
	require.NoError(t, os.Symlink(victim, filepath.Join(out, "a.txt")))
	require.NoError(t, os.WriteFile(filepath.Join(out, "b.txt.part"), []byte(strings.Repeat("half", 99)), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(out, "mine.txt"), []byte("mine"), 0o600))
	artifacts := []Artifact{{Name: "a.txt", Size: 1, content: []byte("x")}, {Name: "b.txt", Size: 1, content: []byte("y")}, {Name: "empty.txt"}}
	require.NoError(t, CopyTo(t.Context(), out, artifacts))
	for name, want := range map[string]string{"a.txt": "x", "b.txt": "y", "empty.txt": "", "mine.txt": "mine"} {
		body, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		require.Equal(t, want, string(body), name)
	}
	require.NoFileExists(t, filepath.Join(out, "b.txt.part"))
	body, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "untouched", string(body))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, CopyTo(ctx, out, []Artifact{{Name: "late.txt"}}), context.Canceled)
	require.NoFileExists(t, filepath.Join(out, "late.txt"))
}

func TestARunThatIsGoneHasNoDeliverables(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	_, err := Build(t.Context(), f.Run().In("runs/ft-none"), f.Run().In("deliver"), &f.Result, f.Meta)
	require.ErrorContains(t, err, "open the run folder")
	require.NoError(t, os.Remove(f.Path(results.EventsFile)))
	require.NoError(t, os.Symlink("/etc/passwd", f.Path(results.EventsFile)))
	_, err = Build(t.Context(), f.Run(), f.Run().In("deliver"), &f.Result, f.Meta)
	require.ErrorContains(t, err, "read what the run did: ")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
}
