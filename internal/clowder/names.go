package clowder

import (
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxComponent is the longest local name in bytes; file systems take 255, a suffix has to fit.
const maxComponent = 200

// localPaths gives every file a path below one folder that is safe to join and different from all others even where
// letter case does not count. The same files in the same order get the same paths, so a second run finds the first one's.
func localPaths(files []File) []string {
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

// withSuffix puts the end of the id before the extension, after a few clashes also a number of letters.
func withSuffix(name, id string, n int) string {
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + "-" + id[max(0, len(id)-8):] + strings.Repeat("x", n) + ext
}

// safePath makes every part of a path harmless; what people see is kept as far as possible.
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
	return "file" + path.Ext(safeComponent(path.Base(p)))
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
		name = "_" + name // no hidden file, no dot segment, nothing that a program takes for an option
	}
	return cutName(name, maxComponent)
}

// cutName keeps a name, or its beginning and its extension where it has more than most bytes.
func cutName(name string, most int) string {
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
