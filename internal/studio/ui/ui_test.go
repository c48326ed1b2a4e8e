package ui

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func packed(t *testing.T, text string) *fstest.MapFile {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return &fstest.MapFile{Data: b.Bytes()}
}

func TestAssets(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		".keep": {}, ".stamp": {Data: []byte("x")}, "notes.js.gz": packed(t, "no hash"),
		"live-ABCDEFG2.js.gz":  packed(t, "let a = 1"),
		"live-HGFEDCB3.css.gz": packed(t, "p { color: red }"),
		"try-ABCDEFG4.js.gz":   packed(t, "let b = 2"),
	}
	a, err := read(files)
	require.NoError(t, err)
	for island, want := range map[string][2]string{
		"live": {"live-ABCDEFG2.js", "live-HGFEDCB3.css"}, "try": {"try-ABCDEFG4.js", ""}, "editor": {},
	} {
		script, style := a.Names(island)
		require.Equal(t, want, [2]string{script, style}, island)
	}

	tests := map[string]struct {
		path, accepts string
		status        int
		kind, body    string
		packed        bool
	}{
		"a browser takes the packed script":         {"/assets/live-ABCDEFG2.js", "gzip, br", http.StatusOK, "text/javascript; charset=utf-8", "let a = 1", true},
		"a client without gzip takes the plain one": {"/prefix/assets/live-ABCDEFG2.js", "", http.StatusOK, "text/javascript; charset=utf-8", "let a = 1", false},
		"a style has its own type":                  {"/assets/live-HGFEDCB3.css", "", http.StatusOK, "text/css; charset=utf-8", "p { color: red }", false},
		"a name of before is not found":             {"/assets/live-OLDOLDOL.js", "gzip", http.StatusNotFound, "", "", false},
		"what is not bundled is not served":         {"/assets/.stamp", "gzip", http.StatusNotFound, "", "", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodGet, test.path, http.NoBody)
			r.Header.Set("Accept-Encoding", test.accepts)
			w := httptest.NewRecorder()
			a.ServeHTTP(w, r)
			require.Equal(t, test.status, w.Code)
			if test.status != http.StatusOK {
				return
			}
			require.Equal(t, test.kind, w.Header().Get("Content-Type"))
			require.Contains(t, w.Header().Get("Cache-Control"), "immutable")
			body := w.Body.Bytes()
			require.Equal(t, test.packed, w.Header().Get("Content-Encoding") == "gzip")
			if test.packed {
				body, err = unpack(body)
				require.NoError(t, err)
			}
			require.Equal(t, test.body, string(body))
		})
	}
}

func TestAProgramWithoutABundleHasNoIslands(t *testing.T) {
	t.Parallel()
	a, err := read(fstest.MapFS{".keep": {}})
	require.NoError(t, err)
	script, style := a.Names("live")
	require.Empty(t, script+style)
}

func TestADamagedBundleIsFound(t *testing.T) {
	t.Parallel()
	_, err := read(fstest.MapFS{"live-ABCDEFG2.js.gz": {Data: []byte("not packed")}})
	require.ErrorContains(t, err, "live-ABCDEFG2.js.gz")
}

func TestTheEmbeddedAssetsCanBeRead(t *testing.T) {
	t.Parallel()
	require.NotPanics(t, func() { Embedded() })
}
