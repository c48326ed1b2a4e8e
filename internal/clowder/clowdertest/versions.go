package clowdertest

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
)

// fileVersion is a row of the versions of a file. Its body is stored beside the newest one.
type fileVersion struct {
	FileID     string `json:"file_id"`
	Creator    user   `json:"creator"`
	Created    stamp  `json:"created"`
	VersionID  string `json:"version_id"`
	VersionNum int    `json:"version_num"`
	Bytes      int64  `json:"bytes"`
}

// complete gives a new file its first version. The body is stored. The caller holds the lock.
func (s *Server) complete(f *file, size int64, kind string) *refusal {
	f.VersionID, f.VersionNum, f.Bytes, f.ContentType = newID(), 1, size, typed(kind)
	if err := os.Link(s.body(f.ID), s.body(f.VersionID)); err != nil {
		return crash()
	}
	s.state.addVersion(f)
	return nil
}

func (st *state) addVersion(f *file) {
	st.versions[f.ID] = append(st.versions[f.ID], fileVersion{
		FileID: f.ID, Creator: f.Creator, Created: f.Created, VersionID: f.VersionID, VersionNum: f.VersionNum, Bytes: f.Bytes,
	})
}

// listVersions lists the versions of a file, newest first, twenty by default.
func (s *Server) listVersions(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	skip, no := intQuery(r, "skip", 0)
	if no != nil {
		return nil, no
	}
	limit, no := intQuery(r, "limit", 20)
	if no != nil {
		return nil, no
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	f, no := s.state.allowedFile(r.PathValue("id"), u)
	if no != nil {
		return nil, no
	}
	if skip < 0 || limit < 0 {
		return nil, crash()
	}
	rows := slices.Clone(s.state.versions[f.ID])
	slices.Reverse(rows)
	from := min(skip, len(rows))
	if limit == 0 {
		limit = len(rows)
	}
	return append([]fileVersion{}, rows[from:min(from+limit, len(rows))]...), nil
}

// bodyOf returns where the body of the version in the query is: the one whose row was stored first. The caller holds the lock.
func (s *Server) bodyOf(r *http.Request, f *file) (string, *refusal) {
	if !r.URL.Query().Has("version") {
		return f.ID, nil
	}
	number, no := intQuery(r, "version", 0)
	if no != nil {
		return "", no
	}
	for _, v := range s.state.versions[f.ID] {
		if v.VersionNum == number {
			return v.VersionID, nil
		}
	}
	return "", refuse(http.StatusNotFound, "File %s version %d not found", f.ID, number)
}

// updateFile stores a new version. It takes a token and no key, and it does not look at the role. Between reading the row and writing it,
// other updates can do the same, as in the real Clowder; see RaceUpdates.
func (s *Server) updateFile(_ http.ResponseWriter, r *http.Request, u user) (any, *refusal) {
	got, no := s.receive(r)
	if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
		s.discard(got)
		return nil, refuse(http.StatusForbidden, "Not authenticated")
	}
	if no != nil {
		return nil, no
	}
	s.state.mu.Lock()
	row, no := s.state.allowedFile(r.PathValue("id"), u)
	var read file
	if no == nil {
		read = *row
		if read.published {
			no = refuse(http.StatusNotFound, "File %s not found", read.ID)
		} else if got.name != read.Name || got.kind != read.ContentType.Full {
			no = refuse(http.StatusBadRequest, "File name and content type must match existing: %s & content_type='%s' main_type='%s'",
				read.Name, read.ContentType.Full, read.ContentType.Main)
		}
	}
	s.state.mu.Unlock()
	if no != nil {
		s.discard(got)
		return nil, no
	}
	version := newID()
	wait, done := s.race.join()
	if err := s.putObject(read.ID, version, got); err != nil {
		return nil, crash()
	}
	wait()
	defer done()
	saved, no := s.putRow(read, version, got.size, u)
	if no == nil && s.opts.Resubmits {
		s.resubmit(read.ID, u)
	}
	return saved, no
}

// putObject makes an upload the newest body and keeps it as a version.
func (s *Server) putObject(id, version string, got *received) error {
	s.state.mu.Lock() // two updates must not share the name of the link
	defer s.state.mu.Unlock()
	if err := os.Rename(got.path, s.body(version)); err != nil { //nolint:gosec // names that os.CreateTemp and newID made
		return err
	}
	link := s.body(version + ".new")
	return errors.Join(os.Link(s.body(version), link), os.Rename(link, s.body(id)))
}

func (s *Server) putRow(read file, version string, size int64, u user) (any, *refusal) {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	row := s.state.files[read.ID]
	if row == nil {
		return nil, crash() // the row to replace is gone
	}
	read.Creator, read.Created, read.VersionID, read.VersionNum, read.Bytes = u, now(), version, read.VersionNum+1, size
	*row = read
	s.state.addVersion(row)
	return read, nil
}

// RaceUpdates lets the next n updates of files read their rows and store their bodies before any of them writes its row. They write their rows
// in the order in which they stored their bodies; with lastFirst in the opposite order, so that the newest body is not that of the newest row.
func (s *Server) RaceUpdates(n int, lastFirst bool) { s.race.begin(n, lastFirst) }

// race lines updates up. Each lets the next one write its row.
type race struct {
	mu        sync.Mutex
	missing   int // updates that have not begun
	unready   int // updates that have not stored their body
	lastFirst bool
	stored    []chan struct{} // closed when the update may write its row
}

func (c *race) begin(n int, lastFirst bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.missing, c.unready, c.lastFirst, c.stored = n, n, lastFirst, nil
}

// join enters an update that has read its row. wait returns when it may write the row, and done says that it has.
func (c *race) join() (wait, done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.missing == 0 {
		return func() {}, func() {}
	}
	c.missing--
	return c.wait, c.next
}

func (c *race) wait() {
	mine := make(chan struct{})
	c.mu.Lock()
	c.stored = append(c.stored, mine)
	c.unready--
	last := c.unready == 0
	c.mu.Unlock()
	if last {
		c.next()
	}
	<-mine
}

// next lets one update write its row, if one waits.
func (c *race) next() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.stored) == 0 {
		return
	}
	at := 0
	if c.lastFirst {
		at = len(c.stored) - 1
	}
	close(c.stored[at])
	c.stored = slices.Delete(c.stored, at, at+1)
}

// Versions returns the numbers and authors of the versions of a file, oldest first.
func (s *Server) Versions(fileID string) []string {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	var out []string
	for _, v := range s.state.versions[fileID] {
		out = append(out, fmt.Sprintf("%d %s", v.VersionNum, v.Creator.Email))
	}
	return out
}
