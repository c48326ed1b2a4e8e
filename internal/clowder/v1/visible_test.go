package v1_test

import (
	"net/http"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
)

// TestWhatClowderHasJustStoredMayBeSeenLater: a busy Clowder finds a new preview, thumbnail, file or folder only after some time.
func TestWhatClowderHasJustStoredMayBeSeenLater(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		path   string // of the calls that do not find it yet
		method string
		answer string
		status int
		do     func(t *testing.T, b bench) error
	}{
		"a preview": {`/files/\w+/previews/\w+$`, http.MethodPost, `"Preview not found"`, http.StatusNotFound, func(t *testing.T, b bench) error {
			t.Helper()
			_, err := b.s.AddPreview(t.Context(), b.upload(t), "ncsa.ray.finetune", text("loss.png", "image/png", "a picture"))
			return err
		}},
		"a thumbnail": {`/files/\w+/thumbnails/\w+$`, http.MethodPost, `"Thumbnail not found"`, http.StatusNotFound, func(t *testing.T, b bench) error {
			t.Helper()
			id, err := b.s.AddThumbnail(t.Context(), text("loss.png", "image/png", "a picture"))
			require.NoError(t, err)
			return b.s.SetFileThumbnail(t.Context(), b.upload(t), id)
		}},
		"a file": {`/files/\w+/metadata$`, http.MethodGet, "Not authorized", http.StatusUnauthorized, func(t *testing.T, b bench) error {
			t.Helper()
			_, err := b.s.Upload(t.Context(), b.ds, "", text("a.csv", "text/csv", "a,b"))
			return err
		}},
		"a folder": {`/datasets/\w+/folders$`, http.MethodGet, "[]", http.StatusOK, func(t *testing.T, b bench) error {
			t.Helper()
			id, err := b.s.AddFolder(t.Context(), b.ds, "", "finetune")
			if err == nil {
				_, err = b.s.AddFolder(t.Context(), b.ds, id, "run")
			}
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := regexp.MustCompile(tc.path)
			for times, wait := range map[int64]time.Duration{3: time.Minute, 1 << 40: 300 * time.Millisecond} {
				var left atomic.Int64
				b := setup(t, clowdertest.Options{}, clowder.Config{Attempts: 1, InFlightWait: wait}, func(w http.ResponseWriter, r *http.Request) bool {
					if r.Method != tc.method || !path.MatchString(r.URL.Path) || left.Add(-1) < 0 {
						return false
					}
					w.WriteHeader(tc.status)
					_, _ = w.Write([]byte(tc.answer))
					return true
				})
				if name != "a file" {
					b.upload(t)
				}
				left.Store(times)
				err := tc.do(t, b)
				if times == 3 {
					require.NoError(t, err)
					continue
				}
				kind, _ := job.Classify(err)
				require.NotEqual(t, job.KindPermanent, kind, "it may be seen another time: %v", err)
				require.Error(t, err)
			}
		})
	}
}

// upload adds a file and returns its id.
func (b bench) upload(t *testing.T) string {
	t.Helper()
	f, err := b.s.Upload(t.Context(), b.ds, "", text("report.html", "text/html", "a page"))
	require.NoError(t, err)
	return f.ID
}
