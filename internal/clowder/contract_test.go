package clowder_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
)

// site is a Clowder under the contract: the double, or a real one.
type site struct {
	url, key string
	// key2 is of a user who has nothing to do with the datasets of the first one; empty leaves those tests out.
	key2 string
	// broker is the RabbitMQ of that Clowder; empty leaves submissions out.
	broker string
}

// startDouble runs a double with the quirks of the real one that cost no time.
func startDouble(tb testing.TB, opts clowdertest.Options) *clowdertest.Server {
	tb.Helper()
	opts.Dir = tb.TempDir()
	server, err := clowdertest.New(opts)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, server.Close()) })
	return server
}

func newClient(tb testing.TB, cfg clowder.Config) *clowder.Client {
	tb.Helper()
	if cfg.CacheDir == "" {
		cfg.CacheDir = filepath.Join(tb.TempDir(), "cache")
	}
	if cfg.Backoff == 0 {
		cfg.Backoff = time.Millisecond
	}
	client, err := clowder.NewClient(cfg)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, client.Close()) })
	return client
}

func TestContractDouble(t *testing.T) {
	t.Parallel()
	server := startDouble(t, clowdertest.Options{HideFromOwner: true})
	runContract(t, site{url: server.URL, key: server.Key("alice@example.org"), key2: server.Key("bob@example.org")})
}

// text is a small body.
func text(name, kind, content string) clowder.Body {
	return clowder.Body{Name: name, ContentType: kind, Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}}
}

func requireKind(t *testing.T, err error, want job.Kind, status int) {
	t.Helper()
	require.Error(t, err)
	kind, _ := job.Classify(err)
	require.Equal(t, want, kind, "%v", err)
	require.Equal(t, status, clowder.StatusOf(err), "%v", err)
	require.NotContains(t, err.Error(), "\n")
}

// missingID has the form of an id and belongs to nothing.
const missingID = "000000000000000000000000"

// runContract is everything that the client does, in the order of a job. It passes against the real Clowder v2.
func runContract(t *testing.T, at site) {
	t.Helper()
	ctx := t.Context()
	client := newClient(t, clowder.Config{URL: at.url, InFlightWait: 5 * time.Second})
	s := client.As(job.Secret(at.key))
	name := fmt.Sprintf("contract %d", time.Now().UnixNano())
	ds, err := s.CreateDataset(ctx, name, "made by a test")
	require.NoError(t, err)

	t.Run("knows the site, the user and the dataset", func(t *testing.T) {
		require.NoError(t, client.Check(ctx))
		email, err := s.CheckKey(ctx)
		require.NoError(t, err)
		require.Contains(t, email, "@")
		got, err := s.Dataset(ctx, ds.ID)
		require.NoError(t, err)
		require.Equal(t, clowder.Dataset{ID: ds.ID, Name: name, Description: "made by a test", Status: "PRIVATE", Creator: clowder.User{Email: email}}, got)
	})
	t.Run("says what is wrong with a key, a right and an id", func(t *testing.T) {
		_, err := s.Dataset(ctx, missingID)
		requireKind(t, err, job.KindPermanent, http.StatusNotFound)
		_, err = client.As("wrong").Dataset(ctx, ds.ID)
		requireKind(t, err, job.KindPermanent, http.StatusUnauthorized)
		require.NotContains(t, err.Error(), "wrong")
		_, err = s.Dataset(ctx, "../users")
		requireKind(t, err, job.KindPermanent, 0)
		if at.key2 != "" {
			_, err = client.As(job.Secret(at.key2)).Dataset(ctx, ds.ID)
			requireKind(t, err, job.KindPermanent, http.StatusForbidden)
			require.ErrorContains(t, err, "ask the dataset owner for the right to view the dataset")
		}
	})
	t.Run("stages an empty dataset", func(t *testing.T) {
		files, err := s.Files(ctx, ds.ID)
		require.NoError(t, err)
		require.Empty(t, files)
		inputs, err := s.Stage(ctx, files, t.TempDir(), nil)
		require.NoError(t, err)
		require.Empty(t, inputs)
	})
	t.Run("lists a job that no extractor has taken, to its user alone", func(t *testing.T) {
		queue := fmt.Sprintf("nobody.%d", time.Now().UnixNano())
		jobs, err := s.RecentJobs(ctx, queue)
		require.NoError(t, err)
		require.Empty(t, jobs)
		_, _ = s.Submit(ctx, ds.ID, queue, map[string]any{"epochs": 2}) // the double has no broker here and says so
		jobs, err = s.RecentJobs(ctx, queue)
		require.NoError(t, err)
		require.Len(t, jobs, 1)
		require.Equal(t, []any{clowder.Created, queue, clowder.Resource{Collection: "datasets", ID: ds.ID}}, []any{jobs[0].Status, jobs[0].Listener, jobs[0].Resource})
		require.JSONEq(t, `{"epochs": 2}`, string(jobs[0].Params))
		require.WithinDuration(t, time.Now(), jobs[0].Submitted(), time.Minute)
		got, err := s.Job(ctx, jobs[0].ID)
		require.NoError(t, err)
		require.Equal(t, got, jobs[0])
		if at.key2 != "" {
			jobs, err = client.As(job.Secret(at.key2)).RecentJobs(ctx, queue)
			require.NoError(t, err)
			require.Empty(t, jobs)
		}
	})
	contractFiles(t, at, s, ds.ID)
	contractResults(t, s, ds.ID)
	if at.key2 != "" {
		contractCollaborator(t, client, at, ds.ID)
	}
}

// contractFiles uploads a tree, lists it and brings it back.
func contractFiles(t *testing.T, at site, s *clowder.Session, ds string) {
	t.Helper()
	ctx := t.Context()
	want := map[string]string{
		"a.csv": "text,label\nx,1\n", "empty.txt": "", "Straße.csv": "ü\n", "数据.csv": "非\n", `say "hi".csv`: "q\n", "A.CSV": "upper\n",
		"-rf.txt": "option\n", "train/a.csv": "t\n", "train/deep/b.csv": "d\n", "train/deep/c.csv": "e\n", "50%25.csv": "p\n", "two  blanks.txt": "b\n",
	}
	folders := map[string]string{"": ""}
	t.Run("makes folders once", func(t *testing.T) {
		for _, path := range []string{"train", "train/deep"} {
			parent, name := "", path
			if slash := strings.LastIndex(path, "/"); slash > 0 {
				parent, name = folders[path[:slash]], path[slash+1:]
			}
			id, err := s.EnsureFolder(ctx, ds, parent, name)
			require.NoError(t, err)
			again, err := s.EnsureFolder(ctx, ds, parent, name)
			require.NoError(t, err)
			require.Equal(t, id, again)
			folders[path] = id
		}
		none, err := s.FindFolder(ctx, ds, "", "deep")
		require.NoError(t, err)
		require.Empty(t, none, "deep is not at the root")
	})
	t.Run("uploads files of all kinds of names", func(t *testing.T) {
		for _, path := range slices.Sorted(maps.Keys(want)) {
			dir, name := "", path
			if slash := strings.LastIndex(path, "/"); slash > 0 {
				dir, name = path[:slash], path[slash+1:]
			}
			got, err := s.Upload(ctx, ds, folders[dir], text(name, "text/csv", want[path]))
			if name == "two  blanks.txt" {
				requireKind(t, err, job.KindPermanent, 0) // a name that would not be the same afterwards
				delete(want, path)
				continue
			}
			require.NoError(t, err, path)
			require.Equal(t, name, got.Name)
			require.Equal(t, "text/csv", got.ContentType)
			require.Equal(t, folders[dir], got.FolderID)
			require.False(t, got.InFlight)
		}
		_, err := s.Upload(ctx, ds, missingID, text("x", "", "x"))
		requireKind(t, err, job.KindPermanent, http.StatusNotFound)
		_, err = s.Upload(ctx, missingID, "", text("x", "", "x"))
		requireKind(t, err, job.KindPermanent, http.StatusNotFound)
	})
	var files []clowder.File
	t.Run("lists the files of all folders beyond one page of ten", func(t *testing.T) {
		var err error
		files, err = s.Files(ctx, ds)
		require.NoError(t, err)
		paths := make([]string, len(files))
		for i, f := range files {
			paths[i] = f.Path
			require.Equal(t, int64(len(want[f.Path])), f.Size, f.Path)
			require.Equal(t, 1, f.Version)
			require.WithinDuration(t, time.Now(), f.Created, 5*time.Minute)
		}
		require.Equal(t, slices.Sorted(maps.Keys(want)), paths)
	})
	t.Run("brings every body to a local name of its own", func(t *testing.T) {
		dir := t.TempDir()
		var last clowder.Progress
		inputs, err := s.Stage(ctx, files, dir, func(p clowder.Progress) { last = p })
		require.NoError(t, err)
		requireInputs(t, dir, inputs, want)
		require.Equal(t, clowder.Progress{Bytes: last.TotalBytes, TotalBytes: last.TotalBytes, Files: len(want), TotalFiles: len(want)}, last)
		second := t.TempDir()
		again, err := s.Stage(ctx, files, second, nil)
		require.NoError(t, err)
		require.Equal(t, inputs, again)
		requireInputs(t, second, again, want)
	})
	t.Run("finds a complete upload by name and size and removes a broken one", func(t *testing.T) {
		got, found, err := s.FindUpload(ctx, ds, folders["train"], "a.csv", 2)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, "a.csv", got.Name)
		_, found, err = s.FindUpload(ctx, ds, folders["train"], "none.csv", 2)
		require.NoError(t, err)
		require.False(t, found)
		_, found, err = s.FindUpload(ctx, ds, folders["train"], "a.csv", 3)
		require.NoError(t, err)
		require.False(t, found)
		left, err := s.FolderFiles(ctx, ds, folders["train"])
		require.NoError(t, err)
		require.Empty(t, left)
		require.NoError(t, s.DeleteFile(ctx, got.ID), "a file that is gone is no error")
	})
	t.Run("says that a file is gone", func(t *testing.T) {
		fresh := newClient(t, clowder.Config{URL: at.url}).As(job.Secret(at.key))
		gone := slices.DeleteFunc(slices.Clone(files), func(f clowder.File) bool { return f.Path != "train/a.csv" })
		_, err := fresh.Stage(ctx, gone, t.TempDir(), nil)
		requireKind(t, err, job.KindPermanent, http.StatusNotFound)
		require.ErrorContains(t, err, `download "train/a.csv"`)
	})
}

// requireInputs compares what lies in dir with what was uploaded.
func requireInputs(t *testing.T, dir string, inputs []job.Input, want map[string]string) {
	t.Helper()
	require.Len(t, inputs, len(want))
	seen := map[string]bool{}
	for _, in := range inputs {
		require.True(t, filepath.IsLocal(in.Path), in.Path)
		require.False(t, seen[strings.ToLower(in.Path)], in.Path)
		seen[strings.ToLower(in.Path)] = true
		body, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(in.Path)))
		require.NoError(t, err)
		require.Equal(t, want[in.Name], string(body), in.Name)
		sum := sha256.Sum256(body)
		require.Equal(t, hex.EncodeToString(sum[:]), in.SHA256)
	}
}

// contractResults does what a finished run leaves in Clowder.
func contractResults(t *testing.T, s *clowder.Session, ds string) {
	t.Helper()
	ctx := t.Context()
	t.Run("adds metadata with a listener", func(t *testing.T) {
		entry := clowder.Metadata{
			Content: map[string]any{"run_id": "ft-1", "metrics": map[string]any{"accuracy": 0.83}}, Listener: "ncsa.ray.finetune", Version: "0.1.0",
			Contexts: []any{map[string]any{"run_id": "http://clowder.ncsa.illinois.edu/metadata/x#run_id"}},
		}
		id, err := s.AddMetadata(ctx, ds, entry)
		require.NoError(t, err)
		list, err := s.Metadata(ctx, ds)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.WithinDuration(t, time.Now(), list[0].Created, 5*time.Minute)
		list[0].Created = time.Time{}
		entry.ID = id
		require.Equal(t, []clowder.Metadata{entry}, list)
		entry.Contexts = nil
		_, err = s.AddMetadata(ctx, ds, entry)
		requireKind(t, err, job.KindPermanent, http.StatusBadRequest)
		require.ErrorContains(t, err, "Context is required")
	})
	t.Run("adds metadata to a file only for an extractor that it knows", func(t *testing.T) {
		file, err := s.Upload(ctx, ds, "", text("bird.png", "image/png", "not really"))
		require.NoError(t, err)
		entry := clowder.Metadata{
			Content: map[string]any{"predicted": "wren"}, Listener: "test.never.announced", Version: "0.1.0",
			Contexts: []any{map[string]any{"predicted": "http://clowder.ncsa.illinois.edu/metadata/x#predicted"}},
		}
		_, err = s.AddFileMetadata(ctx, file.ID, entry)
		requireKind(t, err, job.KindRetryable, 0)
		require.ErrorContains(t, err, "waits for its next heartbeat")
		none, err := s.FileMetadata(ctx, file.ID)
		require.NoError(t, err)
		require.Empty(t, none)
		_, err = s.AddFileMetadata(ctx, missingID, entry)
		requireKind(t, err, job.KindUnknown, http.StatusInternalServerError)
		_, err = s.FileMetadata(ctx, missingID)
		requireKind(t, err, job.KindPermanent, http.StatusNotFound)
		require.NoError(t, s.DeleteFile(ctx, file.ID))
	})
	t.Run("makes, lists and deletes a visualization", func(t *testing.T) {
		want := clowder.Visualization{
			Client: "ncsa.ray.finetune", Component: clowder.ComponentVega, MimeType: "application/json", Name: "Loss & more", Description: "Loss by epoch",
			Parameters: map[string]any{"run": "ft-1"},
		}
		made, err := s.AddVisualization(ctx, ds, want, text("loss.json", "application/json", "{}"))
		require.NoError(t, err)
		list, err := s.Visualizations(ctx, ds)
		require.NoError(t, err)
		want.ConfigID, want.DataIDs = made.ConfigID, made.DataIDs
		require.Equal(t, []clowder.Visualization{want}, list)
		require.NoError(t, s.DeleteVisualization(ctx, made))
		require.NoError(t, s.DeleteVisualization(ctx, made), "one that is gone is no error")
		list, err = s.Visualizations(ctx, ds)
		require.NoError(t, err)
		require.Empty(t, list)
		_, err = s.AddVisualization(ctx, missingID, want, text("x.json", "", "{}"))
		requireKind(t, err, job.KindPermanent, http.StatusNotFound)
	})
	t.Run("sets thumbnails", func(t *testing.T) {
		id, err := s.AddThumbnail(ctx, text("loss.png", "image/png", "not really"))
		require.NoError(t, err)
		require.NoError(t, s.SetDatasetThumbnail(ctx, ds, id))
		got, err := s.Dataset(ctx, ds)
		require.NoError(t, err)
		require.Equal(t, id, got.ThumbnailID)
		requireKind(t, s.SetDatasetThumbnail(ctx, ds, missingID), job.KindPermanent, http.StatusNotFound)
		file, err := s.Upload(ctx, ds, "", text("m.zip", "application/zip", "z"))
		require.NoError(t, err)
		require.NoError(t, s.SetFileThumbnail(ctx, file.ID, id))
		require.NoError(t, s.DeleteFile(ctx, file.ID))
	})
	t.Run("reads jobs and listeners", func(t *testing.T) {
		_, err := s.Job(ctx, missingID)
		requireKind(t, err, job.KindPermanent, http.StatusNotFound)
		_, err = s.JobUpdates(ctx, missingID)
		requireKind(t, err, job.KindPermanent, http.StatusNotFound)
		_, err = s.Listeners(ctx)
		require.NoError(t, err)
	})
}

// contractCollaborator shows what a second user may do after the owner gave a role, and what the owner does not see then.
func contractCollaborator(t *testing.T, client *clowder.Client, at site, ds string) {
	t.Helper()
	t.Run("hides from the owner what a collaborator adds", func(t *testing.T) {
		ctx := t.Context()
		owner, other := client.As(job.Secret(at.key)), client.As(job.Secret(at.key2))
		email, err := other.CheckKey(ctx)
		require.NoError(t, err)
		_, err = other.Upload(ctx, ds, "", text("theirs.csv", "text/csv", "x"))
		requireKind(t, err, job.KindPermanent, http.StatusForbidden)
		require.ErrorContains(t, err, "add files to the dataset")
		requireRole(t, owner, ds, clowder.RoleOwner)
		requireRole(t, other, ds, clowder.NoRole)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.url+"/api/v2/authorizations/datasets/"+ds+"/user_role/"+email+"/uploader", nil)
		require.NoError(t, err)
		req.Header.Set("X-API-KEY", at.key)
		answer, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		http.DefaultClient.CloseIdleConnections()
		require.Equal(t, http.StatusOK, answer.StatusCode)
		requireRole(t, other, ds, clowder.RoleUploader)
		_, err = other.Upload(ctx, ds, "", text("theirs.csv", "text/csv", "x"))
		require.NoError(t, err)
		require.True(t, lists(ctx, t, other, ds, "theirs.csv"))
		require.False(t, lists(ctx, t, owner, ds, "theirs.csv"))
	})
}

func requireRole(t *testing.T, s *clowder.Session, ds string, want clowder.Role) {
	t.Helper()
	role, err := s.Role(t.Context(), ds)
	require.NoError(t, err)
	require.Equal(t, want, role)
	require.Equal(t, want == clowder.RoleOwner, role.CanEdit())
}

func lists(ctx context.Context, t *testing.T, s *clowder.Session, ds, path string) bool {
	t.Helper()
	files, err := s.Files(ctx, ds)
	require.NoError(t, err)
	return slices.ContainsFunc(files, func(f clowder.File) bool { return f.Path == path })
}

// zeros is a body of n bytes that costs no memory.
func zeros(name string, n int64) clowder.Body {
	return clowder.Body{Name: name, ContentType: "application/octet-stream", Size: n, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.LimitReader(zeroReader{}, n)), nil
	}}
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func readAll(t *testing.T, path string) []byte {
	t.Helper()
	body, err := os.ReadFile(path)
	require.NoError(t, err)
	return bytes.Clone(body)
}
