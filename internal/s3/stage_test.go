package s3

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

func TestTheObjectsOfAFolderBecomeFilesOfTheRun(t *testing.T) {
	t.Parallel()
	d := newDouble(t, map[string]string{
		"runs/z.csv": "z", "runs/a/b c.csv": "a,b\n", "runs/ä.txt": "umlaut", "runs/folder/": "", "runs/empty.csv": "",
		"runs-of-others/x": "x", "other": "y",
	})
	inputs, said, err := d.stage(t, "s3://data/runs/")
	require.NoError(t, err)
	require.Equal(t, []string{"Reading 4 objects (11 B) from s3://data/runs"}, said)
	names := map[string]string{"a/b c.csv": "a,b\n", "empty.csv": "", "z.csv": "z", "ä.txt": "umlaut"}
	require.Len(t, inputs, len(names))
	for i, name := range []string{"a/b c.csv", "empty.csv", "z.csv", "ä.txt"} {
		body := names[name]
		require.Equal(t, job.Input{
			Name: "table/" + name, Path: "objects/" + name, Size: int64(len(body)), SHA256: digest(body), Source: "s3://data/runs/" + name,
		}, inputs[i])
		got, err := os.ReadFile(filepath.Join(d.folder, "inputs", "objects", name))
		require.NoError(t, err)
		require.Equal(t, body, string(got))
	}
}

func TestAnAddressMayNameOneObject(t *testing.T) {
	t.Parallel()
	d := newDouble(t, map[string]string{"runs/a.csv": "1", "runs/a.csv/b": "2"})
	inputs, said, err := d.stage(t, "s3://data/runs/a.csv")
	require.NoError(t, err)
	require.Equal(t, []string{"Reading 1 object (1 B) from s3://data/runs/a.csv"}, said)
	require.Equal(t, []job.Input{{
		Name: "table/a.csv", Path: "objects/a.csv", Size: 1, SHA256: digest("1"), Source: "s3://data/runs/a.csv",
	}}, inputs)
}

func TestAnObjectIsDownloadedAgainOnlyIfItChanged(t *testing.T) {
	t.Parallel()
	d := newDouble(t, map[string]string{"runs/a": "old", "runs/b": "same"})
	_, _, err := d.stage(t, "s3://data/runs")
	require.NoError(t, err)
	d.put("runs/a", "new")
	d.spoils(nil)
	inputs, _, err := d.stage(t, "s3://data/runs")
	require.NoError(t, err)
	require.Equal(t, digest("new"), inputs[0].SHA256)
	require.Equal(t, digest("same"), inputs[1].SHA256)
	requests := d.spoils(nil)
	require.Contains(t, requests, "GET /data/runs/a")
	require.NotContains(t, requests, "GET /data/runs/b")
}

func TestAFolderThatCannotBeReadIsRefusedBeforeAnyDownload(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		objects map[string]string
		address string
		want    string
	}{
		"no objects":           {map[string]string{"other/a": "1"}, "s3://data/runs", "s3://data/runs has no objects: check the name of the folder"},
		"folders only":         {map[string]string{"runs/a/": "", "runs/b/": ""}, "s3://data/runs", "has no objects"},
		"no bucket":            {nil, "s3://missing/runs", "the bucket missing does not exist: check its name"},
		"no place":             {nil, "s3://another/runs", "s3://another/runs cannot be read from here"},
		"no address":           {nil, "/data/runs", "write s3://bucket/folder"},
		"too many objects":     {map[string]string{"1": "", "2": "", "3": "", "4": "", "5": "", "6": ""}, "s3://data", "s3://data holds more than is allowed, which is 5 objects or 1000 B: name a smaller folder"},
		"too many bytes":       {map[string]string{"1": strings.Repeat("x", 600), "2": strings.Repeat("x", 401)}, "s3://data", "holds more than is allowed"},
		"too large an object":  {map[string]string{"a": strings.Repeat("x", 1001)}, "s3://data/a", "s3://data/a holds more than is allowed"},
		"an object and folder": {map[string]string{"runs/a": "1", "runs/a/b": "2"}, "s3://data/runs", `in s3://data/runs, "a" is both an object and a folder: rename one`},
		"an object far above":  {map[string]string{"runs/a": "1", "runs/a/b/c/d": "2"}, "s3://data/runs", `"a" is both an object and a folder`},
		"a name of dots":       {map[string]string{"runs/../a": "1"}, "s3://data/runs", `the name of the object "../a" in s3://data/runs has an empty part, or a part of dots only: rename it`},
		"an empty part":        {map[string]string{"runs/a//b": "1"}, "s3://data/runs", "has an empty part"},
		"a backslash":          {map[string]string{`runs/a\b`: "1"}, "s3://data/runs", "has characters that a file name cannot have: rename it"},
		"a name with a tab":    {map[string]string{"runs/a\tb": "1"}, "s3://data/runs", "has characters that a file name cannot have: rename it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDouble(t, tc.objects)
			inputs, said, err := d.stage(t, tc.address)
			requirePermanent(t, err, tc.want)
			require.Empty(t, inputs)
			require.Empty(t, said)
			require.NoDirExists(t, filepath.Join(d.folder, "inputs"))
		})
	}
}

func TestAFolderOfTheMostThatIsAllowedIsRead(t *testing.T) {
	t.Parallel()
	d := newDouble(t, map[string]string{"1": strings.Repeat("a", 600), "2": strings.Repeat("b", 400), "3": "", "4": "", "5": ""})
	inputs, _, err := d.stage(t, "s3://data")
	require.NoError(t, err)
	require.Len(t, inputs, 5)
}

func TestADownloadThatBreaksOffGoesOnAtItsByte(t *testing.T) {
	t.Parallel()
	d := newDouble(t, map[string]string{"a": "0123456789"})
	var ranges, tags []string
	d.spoils(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || r.URL.Path != "/data/a" {
			return false
		}
		ranges = append(ranges, r.Header.Get("Range"))
		tags = append(tags, r.Header.Get("If-Match"))
		if len(ranges) < 4 {
			d.answer(&cutter{ResponseWriter: w, left: 3}, r)
		}
		return len(ranges) < 4
	})
	inputs, _, err := d.stage(t, "s3://data/a")
	require.NoError(t, err)
	require.Equal(t, digest("0123456789"), inputs[0].SHA256)
	require.Equal(t, []string{"", "bytes=3-", "bytes=6-", "bytes=9-"}, ranges)
	tag := `"` + stored{body: "0123456789"}.etag() + `"`
	require.Equal(t, []string{tag, tag, tag, tag}, tags, "each part is of the same object")
}

// corruptingServer changes each byte, and ends the connection after some of them.
type corruptingServer struct {
	http.ResponseWriter
	left int64
}

// Write implements io.Writer.
func (f *corruptingServer) Write(p []byte) (int, error) {
	other := make([]byte, len(p))
	for i, b := range p {
		other[i] = b ^ 1
	}
	return (&cutter{ResponseWriter: f.ResponseWriter, left: f.left}).Write(other)
}

func TestADownloadThatFailsLeavesNothingInTheCache(t *testing.T) {
	t.Parallel()
	const body = "0123456789"
	answers := func(text string) func(d *double, w http.ResponseWriter, r *http.Request) {
		return func(_ *double, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"`+stored{body: body}.etag()+`"`)
			w.Header().Set("Last-Modified", "Tue, 14 Nov 2023 22:13:20 GMT")
			if r.Header.Get("Range") == "" {
				_, _ = w.Write([]byte(text))
			}
		}
	}
	for name, tc := range map[string]struct {
		answer   func(d *double, w http.ResponseWriter, r *http.Request)
		want     string
		kind     job.Kind
		requests int
	}{
		"every connection breaks off at once": {
			func(d *double, w http.ResponseWriter, r *http.Request) { d.answer(&cutter{ResponseWriter: w}, r) },
			"the store failed to read s3://data/a", job.KindRetryable, tries,
		},
		"it is shorter than the listing says": {answers("012"), "the store sent 3 of 10 bytes of s3://data/a", job.KindRetryable, 0},
		"it is longer than the listing says":  {answers(body + "!"), "s3://data/a changed while it was read: submit again when nobody writes to it", job.KindPermanent, 1},
		"it is replaced meanwhile": {
			func(d *double, w http.ResponseWriter, r *http.Request) {
				d.put("a", "another 10")
				d.answer(w, r)
			}, "s3://data/a changed while it was read", job.KindPermanent, 1,
		},
		"it is removed meanwhile": {
			func(_ *double, w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, "NoSuchKey") },
			"s3://data/a does not exist: check its name", job.KindPermanent, 1,
		},
		"it may not be read": {
			func(_ *double, w http.ResponseWriter, _ *http.Request) {
				refuse(w, http.StatusForbidden, "AccessDenied")
			},
			"the store does not allow to read s3://data/a: ask the administrator", job.KindPermanent, 1,
		},
		"its bytes are others than the store has": {
			func(d *double, w http.ResponseWriter, r *http.Request) {
				d.answer(&corruptingServer{ResponseWriter: w, left: 100}, r)
			}, "the store failed to read s3://data/a: checksum mismatch", job.KindRetryable, 1,
		},
		"the bytes of its first connection are others": {
			func(d *double, w http.ResponseWriter, r *http.Request) {
				d.answer(&corruptingServer{ResponseWriter: w, left: 3}, r)
			}, "the bytes of s3://data/a differ from the checksum of the store", job.KindRetryable, 4,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDouble(t, map[string]string{"a": body})
			requests := 0
			d.spoils(func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodGet || r.URL.Path != "/data/a" {
					return false
				}
				requests++
				tc.answer(d, w, r)
				return true
			})
			_, _, err := d.stage(t, "s3://data/a")
			kind, _ := job.Classify(err)
			require.Equal(t, tc.kind, kind, "%v", err)
			require.ErrorContains(t, err, tc.want)
			if tc.requests > 0 {
				require.Equal(t, tc.requests, requests)
			}
			d.put("a", body)
			d.spoils(nil)
			inputs, _, err := d.stage(t, "s3://data/a")
			require.NoError(t, err)
			require.Equal(t, digest(body), inputs[0].SHA256)
			require.Contains(t, d.spoils(nil), "GET /data/a", "it is not taken from the cache")
		})
	}
}

func TestAChecksumOfPartsIsNotCompared(t *testing.T) {
	t.Parallel()
	d := newDouble(t, map[string]string{"a": "text"})
	d.spoils(func(w http.ResponseWriter, r *http.Request) bool {
		r.Header.Del("X-Amz-Checksum-Mode") // the double then sends none of its own
		w.Header().Set("X-Amz-Checksum-Type", "COMPOSITE")
		w.Header().Set("X-Amz-Checksum-Crc64nvme", "AAAAAAAAAAA=-2")
		return false
	})
	inputs, _, err := d.stage(t, "s3://data/a")
	require.NoError(t, err)
	require.Equal(t, digest("text"), inputs[0].SHA256)
}

func TestWhatWasDownloadedBeforeAnErrorIsKept(t *testing.T) {
	t.Parallel()
	d := newDouble(t, map[string]string{"runs/a": "first", "runs/b": "second"})
	d.spoils(refuses(http.MethodGet, "/runs/b", http.StatusForbidden, "AccessDenied"))
	_, _, err := d.stage(t, "s3://data/runs")
	requirePermanent(t, err, "does not allow to read s3://data/runs/b")
	d.spoils(nil)
	_, _, err = d.stage(t, "s3://data/runs")
	require.NoError(t, err)
	requests := d.spoils(nil)
	require.NotContains(t, requests, "GET /data/runs/a")
	require.Contains(t, requests, "GET /data/runs/b")
}

func TestACancelledRunStopsReading(t *testing.T) {
	t.Parallel()
	cancelled := errors.New("the user cancelled the run")
	r := Request{Address: "s3://data/runs", Place: "objects", Name: "table"}
	for name, path := range map[string]string{"while it lists": "/data/", "while it downloads": "/data/runs/a"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDouble(t, map[string]string{"runs/a": "1", "runs/b": "2"})
			ctx, cancel := context.WithCancelCause(t.Context())
			d.spoils(func(_ http.ResponseWriter, request *http.Request) bool {
				if request.Method == http.MethodGet && request.URL.Path == path {
					cancel(cancelled)
				}
				return false
			})
			request := r
			request.Dir = disk.Folder{Volume: d.folder, Name: "inputs"}
			_, err := d.Stage(ctx, request, func(string) {})
			require.ErrorIs(t, err, cancelled)
			require.NotContains(t, d.spoils(nil), "GET /data/runs/b")
		})
	}
}
