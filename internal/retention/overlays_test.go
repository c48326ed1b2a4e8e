package retention

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
)

func TestThePackagesUsedLongestAgoGoFirst(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		limit int64
		// ages are of overlays of 10 bytes each, named by one digit; needed is one that a job needs.
		ages   map[string]time.Duration
		needed string
		state  job.State
		left   string
	}{
		"all fit":                                   {30, map[string]time.Duration{"1": 3 * day, "2": 2 * day, "3": day}, "", "", "123"},
		"the oldest goes":                           {20, map[string]time.Duration{"1": 3 * day, "2": 2 * day, "3": day}, "", "", "23"},
		"one that a running job needs stays":        {10, map[string]time.Duration{"1": 3 * day, "2": 2 * day, "3": day}, "1", job.Running, "1"},
		"one that a job needed that is over goes":   {10, map[string]time.Duration{"1": 3 * day, "2": 2 * day, "3": day}, "1", job.Done, "3"},
		"one that was used a moment ago stays":      {0, map[string]time.Duration{"1": 3 * day, "2": time.Minute}, "", "", "2"},
		"one that was used long ago goes at once":   {0, map[string]time.Duration{"1": 400 * day}, "", "", ""},
		"one from the future was used a moment ago": {0, map[string]time.Duration{"1": -day}, "", "", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.cfg.Overlays, f.cfg.OverlayBytes = disk.Folder{Volume: f.shared, Name: "overlays"}, tc.limit
			for digit, age := range tc.ages {
				dir := filepath.Join(f.shared, "overlays", strings.Repeat(digit, 32))
				require.NoError(t, os.MkdirAll(filepath.Join(dir, "package"), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(dir, "package", "module.py"), []byte("0123456789"), 0o444))
				at := time.Now().Add(-age)
				require.NoError(t, os.Chtimes(dir, at, at))
			}
			other := filepath.Join(f.shared, "overlays", "of-an-administrator")
			require.NoError(t, os.MkdirAll(other, 0o755))
			if tc.needed != "" {
				_, _, err := f.store.Accept(t.Context(), jobtest.Record("ft-one", "h1"))
				require.NoError(t, err)
				_, err = f.store.Change(t.Context(), "ft-one", func(r *job.Record) error {
					r.Script = json.RawMessage(`{"overlay":"overlays/` + strings.Repeat(tc.needed, 32) + `"}`)
					if tc.state.Terminal() {
						r.End(tc.state, "x")
						return r.Close()
					}
					r.Advance(tc.state)
					return nil
				})
				require.NoError(t, err)
			}
			require.NoError(t, f.trimOverlays(t.Context()))
			var left []string
			for _, digit := range []string{"1", "2", "3"} {
				if _, err := os.Stat(filepath.Join(f.shared, "overlays", strings.Repeat(digit, 32))); err == nil {
					left = append(left, digit)
				}
			}
			require.Equal(t, tc.left, strings.Join(left, ""))
			require.DirExists(t, other)
		})
	}
}
