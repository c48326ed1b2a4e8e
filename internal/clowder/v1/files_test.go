package v1_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

func TestListingsOfAnyFormAreReadOrRefused(t *testing.T) {
	t.Parallel()
	const id = "6b0317000000000000000001"
	for name, tc := range map[string]struct {
		list  string
		want  []clowder.File
		kind  job.Kind
		error string
	}{
		"sizes as texts and numbers": {
			list: `[{"id":"` + id + `","filename":"a","size":"8"},{"id":"6b0317000000000000000002","filename":"b","size":9}]`,
			want: []clowder.File{{ID: id, Name: "a", Path: "a", Size: 8, Version: 1}, {ID: "6b0317000000000000000002", Name: "b", Path: "b", Size: 9, Version: 1}},
		},
		"sizes that are none":           {list: `[{"id":"` + id + `","filename":"a","size":"-5"}]`, want: []clowder.File{{ID: id, Name: "a", Path: "a", Version: 1}}},
		"a size beyond 64 bits":         {list: `[{"id":"` + id + `","filename":"a","size":"99999999999999999999"}]`, want: []clowder.File{{ID: id, Name: "a", Path: "a", Version: 1}}},
		"no files":                      {list: `[]`},
		"an id that is a path":          {list: `[{"id":"../../x","filename":"a","size":"8"}]`, kind: job.KindPermanent, error: "is not a Clowder id"},
		"a name that is a number":       {list: `[{"id":"` + id + `","filename":7,"size":"8"}]`, kind: job.KindPermanent, error: "in a form that is not known"},
		"an object":                     {list: `{"files":[]}`, kind: job.KindRetryable, error: "it is not a list"},
		"null":                          {list: `null`, kind: job.KindRetryable, error: "it is not a list"},
		"a list that is cut":            {list: `[{"id":"` + id + `"`, kind: job.KindRetryable, error: "unexpected EOF"},
		"a list without an end":         {list: `[{"id":"` + id + `","filename":"a","size":"8"}`, kind: job.KindRetryable, error: "EOF"},
		"nothing":                       {list: ``, kind: job.KindRetryable, error: "EOF"},
		"more files than are allowed":   {list: `[` + strings.Repeat(`{"id":"`+id+`","filename":"a","size":"8"},`, 4) + `{}]`, kind: job.KindPermanent, error: "more than 3 files"},
		"a row that is larger than any": {list: `[{"id":"` + id + `","filename":"` + strings.Repeat("x", 1<<20) + `","size":"8"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, clowdertest.Options{}, clowder.Config{Attempts: 1, MaxFiles: 3}, func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "/files") {
					return false
				}
				_, _ = fmt.Fprint(w, tc.list)
				return true
			})
			files, err := b.s.Files(t.Context(), b.ds)
			if tc.error != "" {
				clienttest.RequireKind(t, err, tc.kind, 0)
				require.ErrorContains(t, err, tc.error)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, files)
		})
	}
}

func TestAFileThatIsBeingStoredIsWaitedFor(t *testing.T) {
	t.Parallel()
	var b bench
	var id string
	looks := 0
	b = setup(t, clowdertest.Options{}, clowder.Config{InFlightWait: 10 * time.Second}, func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/"+id+"/metadata") {
			if looks++; looks == 2 {
				if err := b.server.FinishFile(id, []byte("abc")); err != nil {
					t.Error(err)
				}
			}
		}
		return false
	})
	id = b.server.AddUnfinishedFile(b.ds, "a.csv")
	files, err := b.s.Files(t.Context(), b.ds)
	require.NoError(t, err)
	require.Equal(t, 2, looks)
	require.Len(t, files, 1)
	require.False(t, files[0].InFlight)
}

func TestAFileThatIsNeverStored(t *testing.T) {
	t.Parallel()
	t.Run("is left out while it is new", func(t *testing.T) {
		t.Parallel()
		b := setup(t, clowdertest.Options{}, clowder.Config{InFlightWait: time.Millisecond}, nil)
		b.server.AddUnfinishedFile(b.ds, "a.csv")
		files, err := b.s.Files(t.Context(), b.ds)
		require.NoError(t, err)
		require.Empty(t, files)
	})
	for name, tc := range map[string]struct {
		timeout time.Duration
		kind    job.Kind
		text    string
	}{
		"is tried again while it may arrive":     {time.Hour, job.KindRetryable, "it is still being stored"},
		"is a mistake that a person can correct": {time.Nanosecond, job.KindPermanent, "delete this file in Clowder or upload it again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, clowdertest.Options{}, clowder.Config{AnswerTimeout: tc.timeout, Attempts: 1}, nil)
			id := b.server.AddUnfinishedFile(b.ds, "a.csv")
			_, err := b.s.Stage(t.Context(), []clowder.File{{ID: id, Name: "a.csv", Path: "a.csv", Size: 3, Version: 1}}, disk.Folder{Volume: t.TempDir()}, nil)
			clienttest.RequireKind(t, err, tc.kind, 0)
			require.ErrorContains(t, err, `could not download "a.csv"`)
			require.ErrorContains(t, err, tc.text)
		})
	}
}

func TestAFileThatIsDeletedInMidDownload(t *testing.T) {
	t.Parallel()
	b := setup(t, clowdertest.Options{}, clowder.Config{}, nil)
	const size = 100_000
	id, err := b.server.AddFile(b.ds, "a.bin", strings.NewReader(strings.Repeat("x", size)))
	require.NoError(t, err)
	b.server.Fail(clowdertest.Fault{Path: "/files/" + id, Cut: size / 2, Times: 1})
	b.server.Fail(clowdertest.Fault{Path: "/files/" + id, Status: 401, Body: "Not authorized"})
	_, err = b.s.Stage(t.Context(), []clowder.File{{ID: id, Name: "a.bin", Path: "a.bin", Size: size, Version: 1}}, disk.Folder{Volume: t.TempDir()}, nil)
	clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
	require.ErrorContains(t, err, "it was deleted, or you lack the right to download")
}

func TestAnUploadThatLandsInTheRootIsTakenAway(t *testing.T) {
	t.Parallel()
	b := setup(t, clowdertest.Options{}, clowder.Config{}, func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/api/uploadToDataset/") { // as if somebody deleted the folder at this moment
			r.URL.RawQuery = "extract=false&folder_id=" + missingID
		}
		return false
	})
	folder, err := b.s.AddFolder(t.Context(), b.ds, "", "results")
	require.NoError(t, err)
	_, err = b.s.Upload(t.Context(), b.ds, folder, text("a.txt", "", "abc"))
	clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
	require.ErrorContains(t, err, "its folder was deleted")
	files, err := b.s.Files(t.Context(), b.ds)
	require.NoError(t, err)
	require.Empty(t, files)
}

func TestUploadsStartNoExtractor(t *testing.T) {
	t.Parallel()
	b := setup(t, clowdertest.Options{}, clowder.Config{}, nil)
	_, err := b.s.Upload(t.Context(), b.ds, "", text("a.txt", "", "abc"))
	require.NoError(t, err)
	require.Empty(t, b.server.Events(b.ds))
	kind, body := form([2]string{"file", "a"})
	status, _ := raw{site{url: b.server.URL}, b.server.Key(alice)}.call(t, "POST", "/api/uploadToDataset/"+b.ds, kind, body)
	require.Equal(t, 200, status)
	require.Len(t, b.server.Events(b.ds), 1, "the upload of another program does")
}

func TestAFolderInOneThatWasJustFoundCostsNoFurtherList(t *testing.T) {
	t.Parallel()
	b := setup(t, clowdertest.Options{}, clowder.Config{}, nil)
	lists := func() int { return b.server.Requests("GET", "/folders") }
	outer, err := b.s.AddFolder(t.Context(), b.ds, "", "finetune")
	require.NoError(t, err)
	before := lists()
	none, err := b.s.FindFolder(t.Context(), b.ds, outer, "run")
	require.NoError(t, err)
	require.Empty(t, none)
	require.Equal(t, before, lists(), "the list that showed the outer folder is a moment old")
	b.server.Fail(clowdertest.Fault{Method: "POST", Path: "/newFolder", Status: 500, After: true, Times: 1})
	_, err = b.s.AddFolder(t.Context(), b.ds, outer, "run")
	clienttest.RequireKind(t, err, job.KindUnknown, 500)
	found, err := b.s.FindFolder(t.Context(), b.ds, outer, "run")
	require.NoError(t, err)
	require.NotEmpty(t, found, "what may have happened is looked for in a new list")
}

func TestPathsHaveOnePartForEachFolder(t *testing.T) {
	t.Parallel()
	b := setup(t, clowdertest.Options{}, clowder.Config{}, nil)
	folder := func(name, parent, kind string) string {
		_, body := raw{site{url: b.server.URL}, b.server.Key(alice)}.call(t, "POST", "/api/datasets/"+b.ds+"/newFolder", "application/json",
			fmt.Sprintf(`{"name":%q,"parentId":%q,"parentType":%q}`, name, parent, kind))
		_, after, _ := strings.Cut(body, `"id":"`)
		return after[:24]
	}
	animals := folder("animals", b.ds, "dataset")
	slash := folder("cats/dogs", animals, "folder")
	inner := folder("deep", slash, "folder")
	second := folder("animals", b.ds, "dataset")
	for i, in := range []string{animals, slash, inner, second, ""} {
		_, err := b.s.Upload(t.Context(), b.ds, in, text(fmt.Sprintf("%d.png", i), "", "abc"))
		require.NoError(t, err)
	}
	files, err := b.s.Files(t.Context(), b.ds)
	require.NoError(t, err)
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	require.Equal(t, []string{"4.png", "animals (1)/3.png", "animals/0.png", "animals/cats_dogs/1.png", "animals/cats_dogs/deep/2.png"}, paths)
	found, err := b.s.FindFolder(t.Context(), b.ds, "", "animals")
	require.NoError(t, err)
	require.Equal(t, animals, found, "the older one of two")
}
