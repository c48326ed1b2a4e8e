// Package localname makes the names of local files and folders from those that users gave theirs in Clowder.
package localname

import (
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// File is a file as Clowder lists it: its path with slashes, and its id.
type File struct{ Path, ID string }

// maxComponent is the length in bytes of the longest local name. File systems allow 255, which leaves space for a suffix.
const maxComponent = 200

// Paths returns a path for each file, relative to one folder. A path is safe to join and unique, also on file systems that ignore
// case. The same files in the same order get the same paths, so a retry finds the files of the first try.
func Paths(files []File) []string {
	taken := make(map[string]bool)
	dirs := make(map[string]bool)
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = safePath(f.Path)
		for dir := path.Dir(out[i]); dir != "."; dir = path.Dir(dir) {
			dirs[strings.ToLower(dir)] = true
		}
	}
	for i, f := range files {
		name := out[i]
		for n := 0; taken[strings.ToLower(name)] || dirs[strings.ToLower(name)]; n++ {
			name = withSuffix(out[i], f.ID, n)
		}
		taken[strings.ToLower(name)] = true
		out[i] = name
	}
	return out
}

// withSuffix inserts the end of the id before the extension, and n letters if that is not unique.
func withSuffix(name, id string, n int) string {
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + "-" + id[max(0, len(id)-8):] + strings.Repeat("x", n) + ext
}

// safePath replaces the unsafe characters in each part of a path.
func safePath(p string) string {
	var parts []string
	for part := range strings.SplitSeq(p, "/") {
		if part != "" {
			parts = append(parts, safeComponent(part))
		}
	}
	if joined := path.Join(parts...); len(parts) > 0 && len(joined) < 2000 && filepath.IsLocal(joined) {
		return joined
	}
	short := "file" + path.Ext(safeComponent(path.Base(p)))
	if len(parts) > 1 {
		short = path.Join(parts[0], short) // the folder of a dataset, where a job has several
	}
	return short
}

// Of returns a name for a folder: what can be kept of name, in at most most bytes.
func Of(name string, most int) string {
	return strings.TrimRight(Cut(safeComponent(strings.ReplaceAll(name, "/", "_")), most), ". ")
}

func safeComponent(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7f || r == utf8.RuneError || strings.ContainsRune(`\:*?"<>|`, r):
			return '_'
		default:
			return r
		}
	}, name)
	name = strings.Trim(name, " ")
	name = strings.TrimRight(name, ". ")
	if name == "" || name[0] == '.' || name[0] == '-' || name[0] == '~' {
		name = "_" + name // otherwise hidden, a dot segment, or read as an option by a program
	}
	return Cut(name, maxComponent)
}

// Cut shortens a name to at most most bytes and keeps its extension.
func Cut(name string, most int) string {
	if len(name) <= most {
		return name
	}
	ext := path.Ext(name)
	if len(ext) > 20 {
		ext = ""
	}
	stem := name[:most-len(ext)]
	for !utf8.ValidString(stem) {
		stem = stem[:len(stem)-1]
	}
	return stem + ext
}
