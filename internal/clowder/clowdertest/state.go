package clowdertest

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"
)

// state is everything that the real Clowder keeps in MongoDB. The one mutex guards all of it; no handler holds it while
// it reads or writes a body.
type state struct {
	mu             sync.Mutex
	users          map[string]user
	keys           map[string]string // key → e-mail
	jobKeys        map[string]string // e-mail → the key that job messages carry
	datasets       map[string]*dataset
	folders        map[string]*folder
	files          map[string]*file
	metadata       []*metadata
	visualizations []*visualization
	thumbnails     map[string]bool
	jobs           map[string]*jobRecord
	updates        []jobUpdate
	told           []Told
	listeners      map[string]*listener
	tracked        map[string]int // file id → downloads that were counted or not
	instance       string
}

func newState(emails []string) *state {
	st := &state{
		users: map[string]user{}, keys: map[string]string{}, jobKeys: map[string]string{}, datasets: map[string]*dataset{},
		folders: map[string]*folder{}, files: map[string]*file{}, thumbnails: map[string]bool{}, jobs: map[string]*jobRecord{},
		listeners: map[string]*listener{}, tracked: map[string]int{}, instance: newID()[14:],
	}
	for _, email := range emails {
		first, _, _ := strings.Cut(email, "@")
		st.users[email] = user{Email: email, FirstName: first, LastName: "X", ID: newID(), Admin: first == "admin"}
		st.keys["key-"+first+"-"+newID()+newID()] = email
	}
	return st
}

// newID makes an ObjectId: the time in seconds, then what makes it unique.
func newID() string {
	var tail [8]byte
	_, _ = rand.Read(tail[:]) // never fails
	return fmt.Sprintf("%08x%s", time.Now().Unix(), hex.EncodeToString(tail[:]))
}

// isID reports whether text is an ObjectId; the real one answers 500 to anything else.
func isID(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == 24
}

// mayAccess reports whether a user has any role on a dataset. v2 means to tell roles apart and does not.
func (d *dataset) mayAccess(u user) bool {
	return d.Creator.Email == u.Email || d.roles[u.Email] != ""
}

// JobKeyMark begins every key that a job message carries, so that a test can look for leaks of any of them.
const JobKeyMark = "jobkey-"

// jobKey returns the key that messages of a user's jobs carry; it never expires and is the same for all of them.
func (st *state) jobKey(email string) string {
	key, ok := st.jobKeys[email]
	if !ok {
		key = JobKeyMark + newID() + newID()
		st.jobKeys[email] = key
		st.keys[key] = email
	}
	return key
}

// pathOf returns the folders from the root to the one with id.
func (st *state) pathOf(id string) []*folder {
	var path []*folder
	for f := st.folders[id]; f != nil; {
		path = append([]*folder{f}, path...)
		if f.Parent == nil {
			break
		}
		f = st.folders[*f.Parent]
	}
	return path
}
