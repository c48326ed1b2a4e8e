package clowder_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
	"github.com/ncsa/clowder-ray/internal/clowder/v1"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/job"
)

// entries is how many entries of metadata a file has, the last one of this service.
const entries = 100_000

// describedFile is a Clowder with a file of very much metadata. It counts the entries that it has sent.
func describedFile(t *testing.T, entry string) (url string, sent *atomic.Int64) {
	t.Helper()
	sent = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, "[")
		for n := 1; n <= entries; n++ {
			if _, err := fmt.Fprintf(w, entry, n); err != nil { // the service has read enough
				return
			}
			sent.Add(1)
			if n < entries {
				_, _ = fmt.Fprint(w, ",")
			}
		}
		_, _ = fmt.Fprint(w, "]")
	}))
	t.Cleanup(server.Close)
	return server.URL, sent
}

// TestAFileOfAHundredThousandEntries costs little memory: what the service has written is found among all of them, and of the labels nothing is read.
//
//nolint:paralleltest // it measures the memory of the whole process
func TestAFileOfAHundredThousandEntries(t *testing.T) {
	const file = "64b0c0ffee0000000000a0b1"
	filler := strings.Repeat("x", 200)
	for name, tc := range map[string]struct {
		entry string
		open  func(c *clowder.Client, url string) (versions.Session, error)
	}{
		"v2": {
			`{"id":"e%d","content":{"run":"%[1]d","text":"` + filler + `"},"agent":{"listener":{"name":"ncsa.ray.predict","version":"1"}},"resource":{"version":1}}`,
			func(c *clowder.Client, url string) (versions.Session, error) { return c.At(url, "KEY") },
		},
		"v1": {
			`{"id":"e%d","content":{"run":"%[1]d","text":"` + filler + `"},"agent":{"@type":"cat:extractor","extractor_id":"https://example.org/extractors/ncsa.ray.predict/1"}}`,
			func(c *clowder.Client, url string) (versions.Session, error) { return v1.At(c, url, job.Secret("KEY")) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			url, sent := describedFile(t, tc.entry)
			c := clienttest.New(t, clowder.Config{URL: url})
			s, err := tc.open(c, url)
			require.NoError(t, err)
			var most uint64
			seen := 0
			found, ok, err := s.FindFileMetadata(t.Context(), file, func(m clowder.Metadata) bool {
				if seen++; seen%20_000 == 0 {
					most = max(most, heap())
				}
				return m.Content["run"] == strconv.Itoa(entries)
			})
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, "ncsa.ray.predict", found.Listener)
			require.Equal(t, entries, seen)
			require.Less(t, most, uint64(16<<20), "bytes in use while 30 MB arrive")

			sent.Store(0)
			_, err = s.FileNotes(t.Context(), file)
			require.ErrorIs(t, err, clowder.ErrManyNotes)
			require.Less(t, sent.Load(), int64(entries/2), "the rest is not read")
		})
	}
}

// heap is what is in use of the memory of the process, in bytes.
func heap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
