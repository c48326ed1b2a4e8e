package clowder

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
)

const secret = "EXTRACTOR_KEY=the key of the service"

// tampers are what a program that can write to a file does after it was checked. Each must leave the size as it is told, where it
// can: a difference in size is the easy case.
var tampers = map[string]func(t *testing.T, path, outside string){
	"a link to a secret of the service": func(t *testing.T, path, outside string) {
		t.Helper()
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.Symlink(outside, path))
	},
	"other bytes of the same length": func(t *testing.T, path, _ string) {
		t.Helper()
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte(secret), int(info.Size()))[:info.Size()], 0o600))
	},
	"a longer file": func(t *testing.T, path, _ string) {
		t.Helper()
		require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte(secret), 1<<16), 0o600))
	},
	"a pipe": func(t *testing.T, path, _ string) {
		t.Helper()
		require.NoError(t, os.Remove(path))
		require.NoError(t, syscall.Mkfifo(path, 0o600))
	},
	"a device": func(t *testing.T, path, _ string) {
		t.Helper()
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.Symlink("/dev/zero", path))
	},
}

// copied is a delivery with its files copied into the folder of d.
func copied(t *testing.T, d *deliveryTest, made platform.Delivery) platform.Delivery {
	t.Helper()
	to := disk.Folder{Volume: d.dir, Name: "deliver"}
	require.NoError(t, delivery.CopyTo(t.Context(), to.Path(), made.Artifacts))
	made.Artifacts = slices.Clone(made.Artifacts)
	for i := range made.Artifacts {
		made.Artifacts[i].Folder = to
	}
	return made
}

func TestWhatWasChangedAfterTheCheckIsNeverUploaded(t *testing.T) {
	t.Parallel()
	one := deliveryOf(t, run, "1")
	for name, tamper := range tampers {
		// A file alone; one that is a visualization, too; and one that is a thumbnail of the model besides.
		for _, file := range []string{"manifest.json", "report.html", "plots/loss.png", "model.zip"} {
			t.Run(file+" is "+name, func(t *testing.T) {
				t.Parallel()
				d := newDelivery(t, alice)
				made := copied(t, d, one)
				outside := filepath.Join(t.TempDir(), "environ")
				require.NoError(t, os.WriteFile(outside, []byte(secret), 0o600))
				tamper(t, filepath.Join(d.dir, "deliver", filepath.FromSlash(file)), outside)

				ledger := platform.LedgerFile{Save: d.save, Last: func(json.RawMessage) {}}
				_, err := d.platform.Deliver(t.Context(), d.rec, made, ledger, func(string) {})
				require.Error(t, err)
				kind, _ := job.Classify(err)
				require.Equal(t, job.KindPermanent, kind, err.Error())
				require.ErrorContains(t, err, "ask the administrator which other program writes to")
				require.NotContains(t, err.Error(), d.dir, "a user reads no path of the server")
				d.requireNoSecret(t)
			})
		}
	}
}

// requireNoSecret reads all that Clowder has stored: files, visualizations and thumbnails. It can be nothing: the changed file ends the
// uploads beside it. Uploads that were cut are over then, and Clowder has removed what had arrived.
func (d *deliveryTest) requireNoSecret(t *testing.T) {
	t.Helper()
	d.line.Close()
	require.NoError(t, filepath.WalkDir(d.bodies, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		require.NotContains(t, string(body), "EXTRACTOR_KEY", path)
		return err
	}))
}

func TestWhatWasChangedAfterTheCheckIsNotCopiedToAFolderEither(t *testing.T) {
	t.Parallel()
	one := deliveryOf(t, run, "1")
	for name, tamper := range tampers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDelivery(t, alice)
			made := copied(t, d, one)
			outside := filepath.Join(t.TempDir(), "environ")
			require.NoError(t, os.WriteFile(outside, []byte(secret), 0o600))
			tamper(t, filepath.Join(d.dir, "deliver", "report.html"), outside)
			out := t.TempDir()
			require.Error(t, delivery.CopyTo(t.Context(), out, made.Artifacts))
			require.NoFileExists(t, filepath.Join(out, "report.html"))
		})
	}
}

func TestAFileIsVerifiedWhileItIsSent(t *testing.T) {
	t.Parallel()
	d := newDelivery(t, alice)
	made := copied(t, d, deliveryOf(t, run, "1"))
	for _, a := range made.Artifacts {
		if a.Name != "report.html" {
			continue
		}
		in, err := a.Open()
		require.NoError(t, err)
		path := filepath.Join(d.dir, "deliver", a.Name)
		body, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("x", len(body))), 0o600)) // into the file that is open
		got, err := io.ReadAll(in)
		require.ErrorIs(t, err, disk.ErrChanged)
		require.Less(t, len(got), len(body), "the last bytes are withheld")
		require.NoError(t, in.Close())
	}
}
