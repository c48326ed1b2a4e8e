package clowder_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// site is a Clowder under the contract: the double, or a real one.
type site struct {
	url, key string
	// key2 belongs to a user without access to the datasets of the first user. Without it some tests are skipped.
	key2 string
	// token is an access token of the first user, and stranger one of somebody who never opened Clowder. Without them some tests are skipped.
	token, stranger string
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

func TestContractDouble(t *testing.T) {
	t.Parallel()
	server := startDouble(t, clowdertest.Options{HideFromOwner: true})
	runContract(t, site{
		url: server.URL, key: server.Key("alice@example.org"), key2: server.Key("bob@example.org"),
		token: server.Token("alice@example.org"), stranger: server.Token("erin@example.org"),
	})
}

// missingID has the form of an id and belongs to nothing.
const missingID = "000000000000000000000000"

// runContract is everything that the client does, in the order of a job. It passes against the real Clowder v2.
func runContract(t *testing.T, at site) {
	t.Helper()
	ctx := t.Context()
	client := clienttest.New(t, clowder.Config{URL: at.url, InFlightWait: 5 * time.Second})
	s := client.As(job.Secret(at.key))
	name := fmt.Sprintf("contract %d", time.Now().UnixNano())
	ds, err := s.CreateDataset(ctx, name, "made by a test")
	require.NoError(t, err)

	t.Run("knows the site, the user and the dataset", func(t *testing.T) {
		checked, err := client.Check(ctx, versions.Abouts())
		require.NoError(t, err)
		require.Regexp(t, `^Clowder 2\.\S+ at http`, checked[0])
		email, err := s.CheckKey(ctx)
		require.NoError(t, err)
		require.Contains(t, email, "@")
		got, err := s.Dataset(ctx, ds.ID)
		require.NoError(t, err)
		require.LessOrEqual(t, got.Release, 0, "it is no released version")
		require.Contains(t, []string{"", ds.ID}, got.OriginID, "some versions of v2 name the dataset itself")
		got.Release, got.OriginID = 0, ""
		require.Equal(t, clowder.Dataset{ID: ds.ID, Name: name, Description: "made by a test", Status: "PRIVATE", Creator: clowder.User{Email: email}, CommonLicence: true, LicenceID: "CC BY"}, got)
	})
	t.Run("says what is wrong with a key, a right and an id", func(t *testing.T) {
		_, err := s.Dataset(ctx, missingID)
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
		_, err = client.As("wrong").Dataset(ctx, ds.ID)
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusUnauthorized)
		require.NotContains(t, err.Error(), "wrong")
		requireRole(t, s, missingID, clowder.NoRole)
		_, err = s.Dataset(ctx, "../users")
		clienttest.RequireKind(t, err, job.KindPermanent, 0)
		if at.key2 != "" {
			_, err = client.As(job.Secret(at.key2)).Dataset(ctx, ds.ID)
			clienttest.RequireKind(t, err, job.KindPermanent, http.StatusForbidden)
			require.ErrorContains(t, err, "ask the dataset owner for the right to view the dataset")
		}
	})
	t.Run("stages an empty dataset", func(t *testing.T) {
		files, err := s.Files(ctx, ds.ID)
		require.NoError(t, err)
		require.Empty(t, files)
		inputs, err := s.Stage(ctx, files, disk.Folder{Volume: t.TempDir()}, nil)
		require.NoError(t, err)
		require.Empty(t, inputs)
	})
	contractLogin(t, client, at, ds.ID)
	contractJobs(t, client, at, ds.ID)
	contractFiles(t, at, s, ds.ID)
	contractVersions(t, client, at, ds.ID)
	contractResults(t, at, s, ds.ID)
	if at.key2 != "" {
		contractCollaborator(t, client, at, ds.ID)
	}
}

// contractLogin makes calls with access tokens of Keycloak.
func contractLogin(t *testing.T, client *clowder.Client, at site, ds string) {
	t.Helper()
	ctx := t.Context()
	t.Run("knows the owner of a key by name", func(t *testing.T) {
		me, err := client.As(job.Secret(at.key)).Profile(ctx)
		require.NoError(t, err)
		require.Contains(t, me.Email, "@")
		require.NotEmpty(t, me.Name())
		require.False(t, me.AdminMode || me.ReadOnly)
	})
	t.Run("acts for the user of an access token", func(t *testing.T) {
		if at.token == "" {
			t.Skip("there is no access token")
		}
		byKey, err := client.As(job.Secret(at.key)).Profile(ctx)
		require.NoError(t, err)
		s := client.Bearer(job.Secret(at.token))
		me, err := s.Profile(ctx)
		require.NoError(t, err)
		require.Equal(t, byKey, me)
		got, err := s.Dataset(ctx, ds)
		require.NoError(t, err)
		require.Equal(t, ds, got.ID)
		requireRole(t, s, ds, clowder.RoleOwner)
		file, err := s.Upload(ctx, ds, "", text("by a token.txt", "text/plain", "x"))
		require.NoError(t, err)
		require.NoError(t, s.DeleteFile(ctx, file.ID))
		_, err = client.Bearer("wrong.token").Profile(ctx)
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusUnauthorized)
		require.ErrorContains(t, err, "log in again")
		require.NotContains(t, err.Error(), "wrong.token")
	})
	t.Run("tells a user whom Clowder does not know from a failure", func(t *testing.T) {
		if at.stranger == "" {
			t.Skip("there is no access token of somebody who never opened Clowder")
		}
		s := client.Bearer(job.Secret(at.stranger))
		_, err := s.Profile(ctx)
		clienttest.RequireKind(t, err, job.KindPermanent, 0)
		require.ErrorIs(t, err, clowder.ErrUnknownUser)
		_, err = s.Dataset(ctx, ds)
		clienttest.RequireKind(t, err, job.KindRetryable, http.StatusInternalServerError)
	})
}

// contractJobs lists submitted jobs and reads single jobs.
func contractJobs(t *testing.T, client *clowder.Client, at site, ds string) {
	t.Helper()
	ctx, s := t.Context(), client.As(job.Secret(at.key))
	t.Run("lists a job that no extractor has taken, to its user alone", func(t *testing.T) {
		queue := fmt.Sprintf("nobody.%d", time.Now().UnixNano())
		jobs, err := s.RecentJobs(ctx, queue)
		require.NoError(t, err)
		require.Empty(t, jobs)
		_, _ = s.Submit(ctx, ds, queue, map[string]any{"epochs": 2}) // the double has no broker here and returns an error
		jobs, err = s.RecentJobs(ctx, queue)
		require.NoError(t, err)
		require.Len(t, jobs, 1)
		require.Equal(t, []any{clowder.Created, queue, clowder.Resource{Collection: "datasets", ID: ds}}, []any{jobs[0].Status, jobs[0].Listener, jobs[0].Resource})
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
	t.Run("reads jobs and listeners", func(t *testing.T) {
		_, err := s.Job(ctx, missingID)
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
		_, err = s.JobUpdates(ctx, missingID)
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
		_, err = s.Listeners(ctx)
		require.NoError(t, err)
	})
}

// contractResults writes what a finished run writes to Clowder.
func contractResults(t *testing.T, at site, s *clowder.Session, ds string) {
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
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusBadRequest)
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
		clienttest.RequireKind(t, err, job.KindRetryable, 0)
		require.ErrorContains(t, err, "before its next heartbeat")
		none, err := clienttest.FileMetadata(ctx, s, file.ID)
		require.NoError(t, err)
		require.Empty(t, none)
		_, err = s.AddFileMetadata(ctx, missingID, entry)
		clienttest.RequireKind(t, err, job.KindUnknown, http.StatusInternalServerError)
		_, err = clienttest.FileMetadata(ctx, s, missingID)
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
		require.NoError(t, s.DeleteFile(ctx, file.ID))
	})
	t.Run("adds what a person says of a file, and takes it back", func(t *testing.T) {
		file, err := s.Upload(ctx, ds, "", text("label.png", "image/png", "not really"))
		require.NoError(t, err)
		author, err := s.Author(ctx)
		require.NoError(t, err)
		content := map[string]any{"plant species": "wren"}
		require.NoError(t, s.AddFileNote(ctx, file.ID, content))
		notes, err := s.FileNotes(ctx, file.ID)
		require.NoError(t, err)
		require.Len(t, notes, 1)
		require.Equal(t, []any{content, true, "", author, 1}, []any{notes[0].Content, notes[0].ByPerson, notes[0].Extractor, notes[0].Author, notes[0].Version})
		require.NotEmpty(t, notes[0].Name)
		body, err := s.ReadFile(ctx, file, 0, 100)
		require.NoError(t, err)
		require.Equal(t, "not really", string(body))
		for range 2 {
			require.NoError(t, s.DeleteNote(ctx, notes[0].ID))
		}
		notes, err = s.FileNotes(ctx, file.ID)
		require.NoError(t, err)
		require.Empty(t, notes)
		require.Error(t, s.AddFileNote(ctx, missingID, content))
		require.NoError(t, s.DeleteFile(ctx, file.ID))
	})
	t.Run("makes, lists and deletes a visualization", func(t *testing.T) {
		want := clowder.Visualization{
			Client: "ncsa.ray.finetune", Component: clowder.ComponentVega, MimeType: "application/json", Name: "Loss, über & more \"中\"", Description: "Loss by epoch",
			Parameters: map[string]any{"run": "ft-1"},
		}
		made, err := s.AddVisualization(ctx, ds, want, text("loss.json", "application/json", "{}"))
		require.NoError(t, err)
		list, err := s.Visualizations(ctx, ds)
		require.NoError(t, err)
		want.ConfigID, want.DataIDs, want.Name = made.ConfigID, made.DataIDs, "Loss_ über & more ___"
		require.Equal(t, []clowder.Visualization{want}, list)
		requireShown(t, at, made.DataIDs[0], "Loss_ \xfcber & more ___", "{}")
		require.NoError(t, s.DeleteVisualization(ctx, made))
		require.NoError(t, s.DeleteVisualization(ctx, made), "one that is gone is no error")
		list, err = s.Visualizations(ctx, ds)
		require.NoError(t, err)
		require.Empty(t, list)
		_, err = s.AddVisualization(ctx, missingID, want, text("x.json", "", "{}"))
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
	})
	t.Run("sets thumbnails", func(t *testing.T) {
		id, err := s.AddThumbnail(ctx, text("loss.png", "image/png", "not really"))
		require.NoError(t, err)
		file, err := s.Upload(ctx, ds, "", text("m.zip", "application/zip", "z"))
		require.NoError(t, err)
		require.NoError(t, s.SetFileThumbnail(ctx, file.ID, id))
		clienttest.RequireKind(t, s.SetFileThumbnail(ctx, file.ID, missingID), job.KindPermanent, http.StatusNotFound)
		require.NoError(t, s.DeleteFile(ctx, file.ID))
	})
}

// contractCollaborator tests what a second user may do with a role, and which of its files the owner does not see.
func contractCollaborator(t *testing.T, client *clowder.Client, at site, ds string) {
	t.Helper()
	t.Run("hides from the owner what a collaborator adds", func(t *testing.T) {
		ctx := t.Context()
		owner, other := client.As(job.Secret(at.key)), client.As(job.Secret(at.key2))
		email, err := other.CheckKey(ctx)
		require.NoError(t, err)
		_, err = other.Upload(ctx, ds, "", text("theirs.csv", "text/csv", "x"))
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusForbidden)
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
