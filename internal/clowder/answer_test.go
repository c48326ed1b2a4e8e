package clowder

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/jsonscan"
	"github.com/ncsa/clowder-ray/internal/job"
)

// oneLineOnly fails where an error of a hostile answer would break a status.
func oneLineOnly(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		require.NotContains(t, err.Error(), "\n")
		require.Less(t, len(err.Error()), 1000)
	}
}

func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		`{"detail":"x"}`, `{"detail":{"error":"Key is invalid."}}`, `{"detail":[{"loc":["query","limit"],"msg":"value is not a valid integer"}]}`,
		`{"detail":[{"loc":[1,{}],"msg":""}]}`, `{"metadata":{"total_count":-1},"data":[{"id":"x","bytes":-5,"folder_id":""}]}`,
		`{"id":"6b0197f2c3a1d2e4f5061728","latest_message":"a","duration":1.5,"parameters":{"a":[]},"creator":{"email":"a@b"}}`,
		`[{"folder_name":"a/b"},{"folder_name":""}]`, `[{"status":"x","timestamp":"2026-01-01T00:00:00"}]`, `{"role":"owner"}`, `{"presigned_url":"http://x"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		require.NotContains(t, answerDetail(body), "\n")
		require.LessOrEqual(t, len([]rune(answerDetail(body))), 170)
		var files page[fileRow]
		if jsonscan.DecodeAnswer(body, &files) == nil {
			for _, row := range files.Data {
				file := row.file()
				require.GreaterOrEqual(t, file.Size, int64(0))
				require.LessOrEqual(t, len(file.Name), maxName)
			}
		}
		var one Job
		if err := jsonscan.DecodeAnswer(body, &one); err == nil {
			_ = one.Submitted()
			_, err := one.Submission("http://x", "d", job.Secret("K"))
			require.NoError(t, err)
		}
		for _, into := range []any{new(Dataset), new(User), new([]jobUpdateRow), new(page[Listener]), new(page[Job]), new(page[folderRow]), new(struct{ Role Role })} {
			oneLineOnly(t, jsonscan.DecodeAnswer(body, into))
		}
		var parts []folderPart
		if jsonscan.DecodeAnswer(body, &parts) == nil {
			require.LessOrEqual(t, len(joinFolders(parts)), maxPath)
		}
	})
}

func FuzzRows(f *testing.F) {
	for _, seed := range []string{
		`[{"id":"x","content":{"a":[1,{}]},"@context":[],"created":"","agent":{"listener":{"name":"n","version":"1"}}},{"agent":{}},3]`,
		`[{"id":"c","client":"x","parameters":{"run":"r"},"visualization_data":[{"id":"d"}]}]`, `{}`, ` [ ]`, `[`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var list jsonscan.Rows
		if err := jsonscan.DecodeAnswer(body, &list); err != nil {
			oneLineOnly(t, err)
			return
		}
		require.LessOrEqual(t, len(metadataOf(list)), len(list))
		require.LessOrEqual(t, len(visualizationsOf(list)), len(list))
	})
}

// TestAnswersCostLittleMoreThanTheirSize runs alone, because it measures the allocations of the whole process.
//
//nolint:paralleltest // see above
func TestAnswersCostLittleMoreThanTheirSize(t *testing.T) {
	const size = jsonscan.MaxAnswer - 1000
	wide := strings.TrimSuffix(strings.Repeat("[],", size/3-100), ",")
	row := `{"agent":{"listener":{"name":"ncsa.ray.finetune"}},"content":{"a":[` + strings.Repeat("[],", 60_000/3) + `0]}}`
	for name, tc := range map[string]struct {
		body string
		read func(s *Session) (int, error)
		want int
	}{
		"metadata of one huge entry":      {`[{"agent":{"listener":{}},"content":{"a":[` + wide + `]}}]`, func(s *Session) (int, error) { m, err := s.Metadata(t.Context(), v2ID); return len(m), err }, 0},
		"metadata of many large entries":  {"[" + strings.TrimSuffix(strings.Repeat(row+",", size/(len(row)+1)), ",") + "]", func(s *Session) (int, error) { m, err := s.Metadata(t.Context(), v2ID); return len(m), err }, 4},
		"metadata of endless entries":     {"[" + wide + "]", func(s *Session) (int, error) { m, err := s.Metadata(t.Context(), v2ID); return len(m), err }, -1},
		"visualizations of one huge card": {`[{"parameters":{"a":[` + wide + `]}}]`, func(s *Session) (int, error) { v, err := s.Visualizations(t.Context(), v2ID); return len(v), err }, 0},
		"a page of endless files":         {`{"data":[` + strings.ReplaceAll(wide, "[]", "{}") + `]}`, func(s *Session) (int, error) { v, err := s.Files(t.Context(), v2ID); return len(v), err }, -1},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(tc.body)) }))
			defer server.Close()
			c, err := NewClient(Config{URL: server.URL, Attempts: 1})
			require.NoError(t, err)
			defer func() { require.NoError(t, c.Close()) }()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			n, err := tc.read(c.As("KEY"))
			runtime.ReadMemStats(&after)
			spent := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes took %.1f MB", len(tc.body), float64(spent)/1e6)
			require.Less(t, spent, uint64(256<<20))
			oneLineOnly(t, err)
			if tc.want < 0 {
				require.ErrorContains(t, err, ": it h")
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, n)
		})
	}
}

const v2ID = "6b0197f2c3a1d2e4f5061728"

func TestAListingThatRepeatsItselfEnds(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"metadata":{"total_count":2000000000},"data":[{"id":"` + v2ID + `","version_num":1}]}`))
	}))
	t.Cleanup(server.Close)
	c, err := NewClient(Config{URL: server.URL, MaxFiles: 300})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	files, err := c.As("KEY").Files(t.Context(), v2ID)
	require.NoError(t, err)
	require.Len(t, files, 1)
}

func TestEndlessNamesAreCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 100_000)
	folder := "f"
	file := fileRow{Name: long + ".csv", FolderID: &folder}.file()
	require.LessOrEqual(t, len(file.Name), maxName)
	require.True(t, strings.HasSuffix(file.Name, "ä.csv"))
	require.LessOrEqual(t, len(joinFolders([]folderPart{{Name: long}, {Name: long}})), maxPath)
	require.Len(t, localPaths([]File{{ID: v2ID, Path: joinFolders([]folderPart{{Name: long}}) + "/" + file.Name}}), 1)
}
