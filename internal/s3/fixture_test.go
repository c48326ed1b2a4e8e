package s3

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// cutter ends a connection after some bytes of an answer.
type cutter struct {
	http.ResponseWriter
	left int64
}

// Write implements io.Writer.
func (c *cutter) Write(p []byte) (int, error) {
	if int64(len(p)) > c.left {
		_, _ = c.ResponseWriter.Write(p[:c.left])
		if f, ok := c.ResponseWriter.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler)
	}
	c.left -= int64(len(p))
	return c.ResponseWriter.Write(p)
}

// Flush implements http.Flusher.
func (c *cutter) Flush() {
	if f, ok := c.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

func digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

func requirePermanent(t *testing.T, err error, want string) {
	t.Helper()
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind, "%v", err)
	require.ErrorContains(t, err, want)
}

func files(content map[string]string) (all []File) {
	for _, name := range []string{"a.pt", "b/c.pt", "log.txt"} {
		if text, ok := content[name]; ok {
			all = append(all, File{Name: name, Size: int64(len(text)), SHA256: digest(text), Open: func() (io.ReadCloser, error) {
				return io.NopCloser(disk.Verify(strings.NewReader(text), name, int64(len(text)), digest(text))), nil
			}})
		}
	}
	return all
}
