package delivery

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// entriesOf reads an archive and the files in it.
func entriesOf(t *testing.T, archive []byte) ([]*zip.File, map[string]string) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	require.NoError(t, err)
	bodies := map[string]string{}
	for _, e := range z.File {
		r, err := e.Open()
		require.NoError(t, err)
		body, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NotContains(t, bodies, e.Name)
		bodies[e.Name] = string(body)
	}
	return z.File, bodies
}

func TestAnArchiveDependsOnItsContentsAlone(t *testing.T) {
	t.Parallel()
	east := time.FixedZone("east", 11*60*60)
	f := resultstest.New(t)
	f.Write(t, "out/model/merges.txt", []byte(strings.Repeat("a b\n", 1000)))
	f.List(t, "out/model/merges.txt")
	root, err := results.OpenRun(f.Run())
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	pack := func(at time.Time) []byte {
		var out bytes.Buffer
		f.Meta.Started = at
		require.NoError(t, writeArchive(t.Context(), &out, root, f.Meta, &f.Result))
		return out.Bytes()
	}
	at := time.Date(2026, 12, 31, 23, 59, 58, 0, time.UTC)
	first := pack(at)
	for name, same := range map[string]time.Time{
		"the same time in another zone": at.In(east), "a second later, which the format cannot tell": at.Add(time.Second),
	} {
		_, want := entriesOf(t, first)
		entries, got := entriesOf(t, pack(same))
		delete(want, "manifest.json") // it has the time with its seconds
		delete(got, "manifest.json")
		require.Equal(t, want, got, name)
		for _, e := range entries {
			require.True(t, e.Modified.Equal(at), "%s: %s is of %s", name, e.Name, e.Modified)
		}
	}
	entries, _ := entriesOf(t, first)
	for _, e := range entries {
		require.Equal(t, fs.FileMode(0o644), e.Mode(), e.Name)
		if strings.HasSuffix(e.Name, results.WeightsSuffix) {
			require.Equal(t, zip.Store, e.Method, "weights do not become smaller")
		} else {
			require.Equal(t, zip.Deflate, e.Method, e.Name)
		}
	}
}

func TestAnArchiveIsNotMadeForSomebodyWhoLeft(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	root, err := results.OpenRun(f.Run())
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, writeArchive(ctx, io.Discard, root, f.Meta, &f.Result), context.Canceled)
	require.ErrorIs(t, stored(f).Write(ctx, io.Discard), context.Canceled)
	_, err = Build(ctx, f.Run(), f.Run().In("deliver"), &f.Result, f.Meta)
	require.ErrorIs(t, err, context.Canceled)
	require.NoDirExists(t, f.Path("deliver"))
}

// fullDisk takes so many bytes and then fails.
type fullDisk struct{ room int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.room {
		n := d.room
		d.room = 0
		return n, errDiskFull
	}
	d.room -= len(p)
	return len(p), nil
}

func TestAnArchiveThatDoesNotFitIsAnError(t *testing.T) {
	t.Parallel()
	f := newLarge(t)
	root, err := results.OpenRun(f.Run())
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	var whole bytes.Buffer
	require.NoError(t, writeArchive(t.Context(), &whole, root, f.Meta, &f.Result))
	for _, room := range []int{0, 1, 4096, whole.Len() / 2, whole.Len() - 1} {
		err := writeArchive(t.Context(), &fullDisk{room}, root, f.Meta, &f.Result)
		require.ErrorIs(t, err, errDiskFull, "room for %d bytes", room)
	}
	require.NoError(t, writeArchive(t.Context(), &fullDisk{whole.Len()}, root, f.Meta, &f.Result))
}

func TestCodeThatIsNotWhatRanIsLeftOut(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(t *testing.T, f *resultstest.Fixture, in *job.Input, code *results.CodeFile)
		want   []string
	}{
		"as it ran": {nil, []string{"code/helper.py", "code/train.py"}},
		"code that was not staged": {
			func(t *testing.T, _ *resultstest.Fixture, _ *job.Input, code *results.CodeFile) {
				t.Helper()
				code.SHA256 = strings.Repeat("e", 64)
			}, []string{"code/helper.py"},
		},
		"code of another size": {
			func(t *testing.T, _ *resultstest.Fixture, _ *job.Input, code *results.CodeFile) {
				t.Helper()
				code.Size++
			}, []string{"code/helper.py"},
		},
		"a path that climbs": {
			func(t *testing.T, _ *resultstest.Fixture, _ *job.Input, code *results.CodeFile) {
				t.Helper()
				code.Path = "../train.py"
			},
			[]string{"code/helper.py"},
		},
		"a path from the root": {
			func(t *testing.T, _ *resultstest.Fixture, _ *job.Input, code *results.CodeFile) {
				t.Helper()
				code.Path = "/train.py"
			},
			[]string{"code/helper.py"},
		},
		"a path in folders": {
			func(t *testing.T, _ *resultstest.Fixture, _ *job.Input, code *results.CodeFile) {
				t.Helper()
				code.Path = "src/a/train.py"
			},
			[]string{"code/helper.py", "code/src/a/train.py"},
		},
		"more than code has": {
			func(t *testing.T, _ *resultstest.Fixture, in *job.Input, code *results.CodeFile) {
				t.Helper()
				in.Size, code.Size = maxCodeBytes+1, maxCodeBytes+1
			}, []string{"code/helper.py"},
		},
		"so much that nothing else has room": { // the file is not there, but its room is taken
			func(t *testing.T, _ *resultstest.Fixture, in *job.Input, code *results.CodeFile) {
				t.Helper()
				in.Size, code.Size = maxCodeBytes, maxCodeBytes
				in.Path, code.Path = "gone", "a.py"
			}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := resultstest.NewGolden(t, "result-script.json")
			f.Meta.Inputs, f.Result.Script.Code = nil, nil
			stage(t, f, "train.py", "print(1)\n")
			stage(t, f, "helper.py", "print(2)\n")
			if tc.change != nil {
				tc.change(t, f, &f.Meta.Inputs[0], &f.Result.Script.Code[0])
			}
			root, err := results.OpenRun(f.Run())
			require.NoError(t, err)
			defer func() { require.NoError(t, root.Close()) }()
			var out bytes.Buffer
			require.NoError(t, writeCode(t.Context(), &out, root, &f.Result, f.Meta))
			entries, _ := entriesOf(t, out.Bytes())
			var names []string
			for _, e := range entries {
				names = append(names, e.Name)
			}
			require.Equal(t, tc.want, names)
		})
	}
}

func TestStagedCodeThatChangedIsNotDelivered(t *testing.T) {
	t.Parallel()
	f := resultstest.NewGolden(t, "result-script.json")
	f.Meta.Inputs, f.Result.Script.Code = nil, nil
	in := stage(t, f, "train.py", "print(1)\n")
	f.Write(t, "inputs/"+in.Path, []byte("print(2)\n"))
	root, err := results.OpenRun(f.Run())
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	err = writeCode(t.Context(), io.Discard, root, &f.Result, f.Meta)
	require.ErrorContains(t, err, in.Path)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, writeCode(ctx, io.Discard, root, &f.Result, f.Meta), context.Canceled)
}
