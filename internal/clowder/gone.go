package clowder

import (
	"maps"
	"net/http"
	"slices"

	"github.com/ncsa/clowder-ray/internal/job"
)

// GoneError says that Clowder no longer has some of the listed files, or no longer shows them, or may not give them away. It is as permanent as the first refusal,
// whose text it has; a caller that can do without the files goes on with the others.
type GoneError struct {
	// Files are the missing ones, in the order in which they were listed.
	Files []File
	// Barred are those whose licence forbids their download.
	Barred []File
	first  error
}

// Error returns what Clowder said of the first of the files.
func (e *GoneError) Error() string { return e.first.Error() }

// Unwrap returns the answer to the first of the files.
func (e *GoneError) Unwrap() error { return e.first }

// isGone reports whether Clowder answered that a file is not there.
func isGone(err error) bool {
	status := StatusOf(err)
	return status == http.StatusNotFound || status == http.StatusGone
}

// present returns the inputs of the files that were there.
func (st *staging) present() ([]job.Input, error) {
	if len(st.gone) == 0 {
		return st.inputs, nil
	}
	left := make([]job.Input, 0, len(st.inputs)-len(st.gone))
	for i, in := range st.inputs {
		if _, gone := st.gone[i]; !gone {
			left = append(left, in)
		}
	}
	missing := &GoneError{}
	for _, i := range slices.Sorted(maps.Keys(st.gone)) {
		if IsBarred(st.gone[i]) {
			missing.Barred = append(missing.Barred, st.files[i])
		} else {
			missing.Files = append(missing.Files, st.files[i])
		}
		if missing.first == nil {
			missing.first = st.gone[i]
		}
	}
	return left, missing
}

// changed returns when a file that others can overwrite was last changed, in ns since 1970: one in a mounted folder. It is 0 for others.
func (c *Client) changed(f File) int64 {
	if f.Stored == "" || !c.mounts.Covers(f.Stored) {
		return 0
	}
	file, info, err := c.mounts.OpenFile(f.Stored)
	if err != nil {
		return 0
	}
	_ = file.Close()
	return info.ModTime().UnixNano()
}

// unknown reports whether others can overwrite the file in its place without a sign that this process sees. Such a file is downloaded each
// time; the cache keeps one body for all downloads with the same hash.
func (f File) unknown() bool { return f.Registered && f.changed == 0 }
