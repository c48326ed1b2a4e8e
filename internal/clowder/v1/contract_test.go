package v1_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	v1 "github.com/ncsa/clowder-ray/internal/clowder/v1"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// site is a Clowder v1 under the contract: the double, or a real one. It is private, as an installation with accounts is.
type site struct {
	url, key string
	// key2 belongs to a user without access to the datasets of the first user, and global is the key of the installation. Without them
	// some tests are skipped.
	key2, global string
}

// missingID has the form of an id and belongs to nothing.
const missingID = "000000000000000000000000"

// startDouble runs a double whose uploads are stored a moment after their answer, as in the real one.
func startDouble(tb testing.TB, opts clowdertest.Options) *clowdertest.Server {
	tb.Helper()
	opts.Version, opts.Dir = 1, tb.TempDir()
	server, err := clowdertest.New(opts)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, server.Close()) })
	return server
}

func TestContractDouble(t *testing.T) {
	t.Parallel()
	runContract(t, doubleSite(t))
}

func doubleSite(t *testing.T) site {
	t.Helper()
	server := startDouble(t, clowdertest.Options{StoreDelay: 10 * time.Millisecond})
	return site{url: server.URL, key: server.Key("alice@example.org"), key2: server.Key("bob@example.org"), global: server.GlobalKey()}
}

func session(tb testing.TB, c *clowder.Client, key string) *v1.Session {
	tb.Helper()
	s, err := v1.At(c, "", job.Secret(key))
	require.NoError(tb, err)
	return s
}

// text is a small body.
func text(name, kind, content string) clowder.Body {
	return clowder.Body{Name: name, ContentType: kind, Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}}
}

// runContract is everything that the client does, in the order of a job. It passes against the real Clowder v1.
func runContract(t *testing.T, at site) {
	t.Helper()
	ctx := t.Context()
	client := clienttest.New(t, clowder.Config{URLs: map[int]string{1: at.url}, InFlightWait: 20 * time.Second})
	s := session(t, client, at.key)
	name := fmt.Sprintf("contract %d", time.Now().UnixNano())
	ds, err := s.CreateDataset(ctx, name, "made by a test")
	require.NoError(t, err)

	t.Run("knows the site, the user and the dataset", func(t *testing.T) {
		found, err := client.Check(ctx, versions.Abouts())
		require.NoError(t, err)
		require.Regexp(t, `^Clowder 1\.\S+ at http`, found[0])
		email, err := s.CheckKey(ctx)
		require.NoError(t, err)
		require.Contains(t, email, "@")
		me, err := s.Profile(ctx)
		require.NoError(t, err)
		require.Equal(t, email, me.Email)
		require.NotEmpty(t, me.Name())
		got, err := s.Dataset(ctx, ds)
		require.NoError(t, err)
		require.Equal(t, clowder.Dataset{ID: ds, Name: name, Description: "made by a test"}, got)
		role, err := s.Role(ctx, ds)
		require.NoError(t, err)
		require.Equal(t, clowder.RoleEditor, role)
	})
	contractRights(t, client, at, ds)
	t.Run("stages an empty dataset", func(t *testing.T) {
		files, err := s.Files(ctx, ds)
		require.NoError(t, err)
		require.Empty(t, files)
		inputs, err := s.Stage(ctx, files, disk.Folder{Volume: t.TempDir()}, nil)
		require.NoError(t, err)
		require.Empty(t, inputs)
	})
	contractFiles(t, at, s, ds)
	contractResults(t, s, ds)
}

// contractRights makes calls that Clowder answers with 401 for different reasons.
func contractRights(t *testing.T, client *clowder.Client, at site, ds string) {
	t.Helper()
	ctx, s := t.Context(), session(t, client, at.key)
	t.Run("says what is wrong with a key, a right and an id", func(t *testing.T) {
		_, err := s.Dataset(ctx, missingID)
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
		require.ErrorContains(t, err, "it was deleted, or you lack the right to view the dataset")
		_, err = s.Upload(ctx, missingID, "", text("x", "", "x"))
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusForbidden)
		role, err := s.Role(ctx, missingID)
		require.NoError(t, err)
		require.Equal(t, clowder.NoRole, role)
		_, err = s.Dataset(ctx, "../users")
		clienttest.RequireKind(t, err, job.KindPermanent, 0)
		for name, call := range map[string]func(*v1.Session) error{
			"read":     func(bad *v1.Session) error { _, err := bad.Dataset(ctx, ds); return err },
			"list":     func(bad *v1.Session) error { _, err := bad.Files(ctx, ds); return err },
			"write":    func(bad *v1.Session) error { _, err := bad.AddFolder(ctx, ds, "", "x"); return err },
			"upload":   func(bad *v1.Session) error { _, err := bad.Upload(ctx, ds, "", text("x", "", "x")); return err },
			"identify": func(bad *v1.Session) error { _, err := bad.CheckKey(ctx); return err },
		} {
			err := call(session(t, client, "wrong-key"))
			clienttest.RequireKind(t, err, job.KindPermanent, http.StatusUnauthorized)
			require.ErrorContains(t, err, "does not accept the key", name)
			require.NotContains(t, err.Error(), "wrong-key", name)
		}
	})
	t.Run("keeps the dataset from another user", func(t *testing.T) {
		if at.key2 == "" {
			t.Skip("there is no second user")
		}
		other := session(t, client, at.key2)
		_, err := other.Dataset(ctx, ds)
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
		_, err = other.AddFolder(ctx, ds, "", "x")
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusForbidden)
	})
	t.Run("finds out that the key of the installation goes into the query", func(t *testing.T) {
		if at.global == "" {
			t.Skip("there is no key of the installation")
		}
		all := session(t, client, at.global)
		_, err := all.Profile(ctx)
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusUnauthorized)
		got, err := all.Dataset(ctx, ds)
		require.NoError(t, err)
		require.Equal(t, ds, got.ID)
		who, err := all.CheckKey(ctx)
		require.NoError(t, err)
		require.Equal(t, "an administrator", who)
		_, err = all.Profile(ctx)
		clienttest.RequireKind(t, err, job.KindPermanent, 0)
		require.ErrorIs(t, err, clowder.ErrNobody)
		_, err = all.Dataset(ctx, missingID)
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
		require.NotContains(t, err.Error(), at.global)
	})
}

// contractFiles uploads a tree, lists it and brings it back.
func contractFiles(t *testing.T, at site, s *v1.Session, ds string) {
	t.Helper()
	ctx := t.Context()
	want := map[string]string{
		"a.csv": "text,label\nx,1\n", "empty.txt": "", "Straße.csv": "ü\n", "数据.csv": "非\n", `say "hi".csv`: "q\n", "A.CSV": "upper\n",
		"-rf.txt": "option\n", "train/a.csv": "t\n", "train/deep/b.csv": "d\n", "train/deep/c.csv": "e\n", "50%25.csv": "p\n",
	}
	folders := map[string]string{"": ""}
	t.Run("makes folders and finds them", func(t *testing.T) {
		for _, path := range []string{"train", "train/deep"} {
			parent, name := "", path
			if slash := strings.LastIndex(path, "/"); slash > 0 {
				parent, name = folders[path[:slash]], path[slash+1:]
			}
			id, err := s.AddFolder(ctx, ds, parent, name)
			require.NoError(t, err)
			again, err := s.AddFolder(ctx, ds, parent, name)
			require.NoError(t, err)
			require.Equal(t, id, again, "a second folder of the name is not used")
			found, err := s.FindFolder(ctx, ds, parent, name)
			require.NoError(t, err)
			require.Equal(t, id, found)
			folders[path] = id
		}
		none, err := s.FindFolder(ctx, ds, "", "deep")
		require.NoError(t, err)
		require.Empty(t, none, "deep is not at the root")
		_, err = s.AddFolder(ctx, ds, missingID, "x")
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
		_, err = s.AddFolder(ctx, ds, ds, "x")
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
	})
	t.Run("uploads files of all kinds of names", func(t *testing.T) {
		for _, path := range slices.Sorted(maps.Keys(want)) {
			dir, name := "", path
			if slash := strings.LastIndex(path, "/"); slash > 0 {
				dir, name = path[:slash], path[slash+1:]
			}
			got, err := s.Upload(ctx, ds, folders[dir], text(name, "text/csv", want[path]))
			require.NoError(t, err, path)
			require.Equal(t, []any{name, folders[dir], false}, []any{got.Name, got.FolderID, got.InFlight})
		}
		_, err := s.Upload(ctx, ds, "", text("two  blanks.txt", "", "x"))
		clienttest.RequireKind(t, err, job.KindPermanent, 0)
		_, err = s.Upload(ctx, ds, missingID, text("x", "", "x"))
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
	})
	t.Run("never puts a file into another dataset", func(t *testing.T) {
		other, err := s.CreateDataset(ctx, "another", "")
		require.NoError(t, err)
		_, err = s.Upload(ctx, other, folders["train"], text("x", "", "x"))
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
	})
	var files []clowder.File
	t.Run("lists the files of all folders", func(t *testing.T) {
		var err error
		files, err = s.Files(ctx, ds)
		require.NoError(t, err)
		paths := make([]string, len(files))
		for i, f := range files {
			paths[i] = f.Path
			require.Equal(t, int64(len(want[f.Path])), f.Size, f.Path)
			require.Equal(t, 1, f.Version)
			if dir, _, inside := strings.Cut(f.Path, "/deep/"); inside {
				require.Equal(t, []string{folders[dir], folders[dir+"/deep"]}, f.Folders)
			}
		}
		require.Equal(t, slices.Sorted(maps.Keys(want)), paths)
	})
	t.Run("brings every body to a local name of its own", func(t *testing.T) {
		dir := t.TempDir()
		inputs, err := s.Stage(ctx, files, disk.Folder{Volume: dir}, nil)
		require.NoError(t, err)
		require.Len(t, inputs, len(want))
		seen := map[string]bool{}
		for _, in := range inputs {
			require.False(t, seen[strings.ToLower(in.Path)], in.Path)
			seen[strings.ToLower(in.Path)] = true
			body, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(in.Path)))
			require.NoError(t, err)
			require.Equal(t, want[in.Name], string(body), in.Name)
		}
	})
	t.Run("lists the files of one folder and deletes one once", func(t *testing.T) {
		held, err := s.FolderFiles(ctx, ds, folders["train"])
		require.NoError(t, err)
		require.Len(t, held, 1)
		require.Equal(t, []any{"a.csv", int64(2), false}, []any{held[0].Name, held[0].Size, held[0].InFlight})
		require.NoError(t, s.DeleteFile(ctx, held[0].ID))
		left, err := s.FolderFiles(ctx, ds, folders["train"])
		require.NoError(t, err)
		require.Empty(t, left)
		require.NoError(t, s.DeleteFile(ctx, held[0].ID), "a file that is gone is no error")
	})
	t.Run("says that a file is gone", func(t *testing.T) {
		fresh := session(t, clienttest.New(t, clowder.Config{URLs: map[int]string{1: at.url}}), at.key)
		gone := slices.DeleteFunc(slices.Clone(files), func(f clowder.File) bool { return f.Path != "train/a.csv" })
		_, err := fresh.Stage(ctx, gone, disk.Folder{Volume: t.TempDir()}, nil)
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
		require.ErrorContains(t, err, `download "train/a.csv"`)
	})
}

// contractResults writes what a finished run writes to Clowder.
func contractResults(t *testing.T, s *v1.Session, ds string) {
	t.Helper()
	ctx := t.Context()
	entry := clowder.Metadata{
		Content: map[string]any{"run": "ft-1", "metrics": map[string]any{"f1.macro": 0.83, "big": 1e20, "n": int64(3)}, "labels": []string{"a"}}, Listener: "ncsa.ray.finetune", Version: "0.1.0",
		Contexts: []any{map[string]any{"run": "http://clowder.ncsa.illinois.edu/metadata/x#run"}},
	}
	stored := map[string]any{"run": "ft-1", "metrics": map[string]any{"f1_macro": 0.83, "big": 1e20, "n": 3.0}, "labels": []any{"a"}}
	check := func(t *testing.T, list []clowder.Metadata) {
		t.Helper()
		require.Len(t, list, 1)
		require.Len(t, list[0].ID, 24)
		require.Equal(t, stored, list[0].Content)
		require.Equal(t, []any{entry.Listener, entry.Version}, []any{list[0].Listener, list[0].Version})
		require.WithinDuration(t, time.Now(), list[0].Created, 5*time.Minute)
	}
	t.Run("adds metadata to the dataset", func(t *testing.T) {
		_, err := s.AddMetadata(ctx, ds, entry)
		require.NoError(t, err)
		list, err := s.Metadata(ctx, ds)
		require.NoError(t, err)
		check(t, list)
	})
	file, err := s.Upload(ctx, ds, "", text("model.zip", "application/zip", "not really"))
	require.NoError(t, err)
	t.Run("adds metadata to a file", func(t *testing.T) {
		_, err = s.AddFileMetadata(ctx, file.ID, entry)
		require.NoError(t, err)
		list, err := clienttest.FileMetadata(ctx, s, file.ID)
		require.NoError(t, err)
		check(t, list)
		_, err = clienttest.FileMetadata(ctx, s, missingID)
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
		_, err = s.AddFileMetadata(ctx, missingID, entry)
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusForbidden)
	})
	t.Run("adds what a person says of a file, and takes it back", func(t *testing.T) {
		labelled, err := s.Upload(ctx, ds, "", text("label.png", "image/png", "not really"))
		require.NoError(t, err)
		author, err := s.Author(ctx)
		require.NoError(t, err)
		require.NoError(t, s.AddFileNote(ctx, labelled.ID, map[string]any{"plant species": "wren"}))
		notes, err := s.FileNotes(ctx, labelled.ID)
		require.NoError(t, err)
		require.Len(t, notes, 1)
		require.Equal(t, []any{map[string]any{"plant species": "wren"}, true, "", author}, []any{notes[0].Content, notes[0].ByPerson, notes[0].Extractor, notes[0].Author})
		require.NotEmpty(t, notes[0].Name)
		body, err := s.ReadFile(ctx, labelled, 0, 100)
		require.NoError(t, err)
		require.Equal(t, "not really", string(body))
		_, err = s.ReadFile(ctx, labelled, 0, 3)
		require.ErrorIs(t, err, clowder.ErrFileTooLarge)
		require.NoError(t, s.DeleteNote(ctx, notes[0].ID))
		notes, err = s.FileNotes(ctx, labelled.ID)
		require.NoError(t, err)
		require.Empty(t, notes)
		clienttest.RequireKind(t, s.AddFileNote(ctx, missingID, map[string]any{"a": "b"}), job.KindPermanent, http.StatusForbidden)
		require.NoError(t, s.DeleteFile(ctx, labelled.ID))
	})
	t.Run("shows a picture on the page of a file", func(t *testing.T) {
		none, err := s.Previews(ctx, file.ID)
		require.NoError(t, err)
		require.Empty(t, none)
		id, err := s.AddPreview(ctx, file.ID, "ncsa.ray.finetune", text("loss.png", "image/png", "a picture"))
		require.NoError(t, err)
		list, err := s.Previews(ctx, file.ID)
		require.NoError(t, err)
		require.Equal(t, []clowder.Preview{{ID: id, Name: "loss.png"}}, list)
	})
	t.Run("sets a thumbnail", func(t *testing.T) {
		id, err := s.AddThumbnail(ctx, text("loss.png", "image/png", "a picture"))
		require.NoError(t, err)
		for range 2 {
			require.NoError(t, s.SetFileThumbnail(ctx, file.ID, id))
		}
		files, err := s.FolderFiles(ctx, ds, "")
		require.NoError(t, err)
		require.True(t, slices.ContainsFunc(files, func(f clowder.File) bool { return f.ID == file.ID && f.ThumbnailID == id }))
	})
	require.NoError(t, s.DeleteFile(ctx, file.ID))
}
