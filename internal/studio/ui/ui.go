// Package ui embeds the scripts of the studio's pages and serves them. test/setup/ui.sh bundles them from src into dist; a program that
// was built without that has none, and its pages work without them.
package ui

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
)

//go:embed all:dist
var dist embed.FS

// island is what a page loads for one of its islands: names of assets, empty where there is none.
type island struct{ script, style string }

// asset is one file, as it is sent.
type asset struct {
	kind          string // its Content-Type
	packed, plain []byte // after gzip, and before
}

// Assets are bundled scripts and styles. They are fixed when they are made, so many requests may use them at once.
type Assets struct {
	islands map[string]island
	files   map[string]asset // by their names, without .gz
}

// bundled is how the bundler names what it writes: the island, a hash of the content, and the kind.
var bundled = regexp.MustCompile(`^([a-z]+)-[A-Z0-9]{8}\.(js|css)\.gz$`)

// kinds are the media types of the assets. The table of the machine may have others.
var kinds = map[string]string{"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}

// Embedded returns the assets in this program.
func Embedded() *Assets {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the name is a constant
	}
	a, err := read(files)
	if err != nil {
		panic(err) // the bundle that was built in is damaged: no page would work as it was tested
	}
	return a
}

func read(files fs.FS) (*Assets, error) {
	a := &Assets{islands: map[string]island{}, files: map[string]asset{}}
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, fmt.Errorf("list the assets: %w", err)
	}
	for _, entry := range entries {
		parts := bundled.FindStringSubmatch(entry.Name())
		if parts == nil {
			continue
		}
		packed, err := fs.ReadFile(files, entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read an asset: %w", err)
		}
		plain, err := unpack(packed)
		if err != nil {
			return nil, fmt.Errorf("unpack %s: %w", entry.Name(), err)
		}
		name := strings.TrimSuffix(entry.Name(), ".gz")
		a.files[name] = asset{kind: kinds[parts[2]], packed: packed, plain: plain}
		i := a.islands[parts[1]]
		if parts[2] == "css" {
			i.style = name
		} else {
			i.script = name
		}
		a.islands[parts[1]] = i
	}
	return a, nil
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r) // ours, so its size is known
}

// Names returns the names of the script and the style of an island; empty where this program has none.
func (a *Assets) Names(name string) (script, style string) {
	return a.islands[name].script, a.islands[name].style
}

// ServeHTTP sends the asset whose name the last part of the path is. Browsers keep it for good, because another content has another name.
func (a *Assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	found, ok := a.files[path.Base(r.URL.Path)]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", found.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept-Encoding")
	body := found.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = found.packed
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // who has gone away needs no answer
	}
}
