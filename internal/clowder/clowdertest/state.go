package clowdertest

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// state is the data that the real Clowder stores in MongoDB. The mutex guards all of it. No handler holds it while it reads or writes
// a body.
type state struct {
	mu             sync.Mutex
	users          map[string]user
	keys           map[string]string // key → e-mail
	jobKeys        map[string]string // e-mail → the key in job messages
	tokens         map[string]string // access token → e-mail
	datasets       map[string]*dataset
	folders        map[string]*folder
	files          map[string]*file
	foldersOf      map[string]map[string]*folder // by the id of the dataset
	filesOf        map[string]map[string]*file   // by the id of the dataset
	versions       map[string][]fileVersion      // by the id of the file, oldest first
	metadata       []*metadata
	visualizations []*visualization
	thumbnails     map[string]bool
	jobs           map[string]*jobRecord
	updates        []jobUpdate
	received       []ReceivedStatus
	listeners      map[string]*listener
	tracked        map[string]int // file id → downloads that were counted or not
	instance       string
	holders        map[string]*holder
	licenses       map[string]map[string]any // that owners have written, by id
	v1             v1State
}

func newState(emails []string) *state {
	st := &state{
		users: map[string]user{}, keys: map[string]string{}, jobKeys: map[string]string{}, tokens: map[string]string{}, datasets: map[string]*dataset{},
		folders: map[string]*folder{}, files: map[string]*file{}, foldersOf: map[string]map[string]*folder{}, filesOf: map[string]map[string]*file{}, versions: map[string][]fileVersion{}, thumbnails: map[string]bool{}, jobs: map[string]*jobRecord{},
		listeners: map[string]*listener{}, tracked: map[string]int{}, instance: newID()[14:], holders: map[string]*holder{}, licenses: map[string]map[string]any{},
		v1: newV1State(),
	}
	for _, email := range emails {
		first, _, _ := strings.Cut(email, "@")
		st.users[email] = user{Email: email, FirstName: first, LastName: "X", ID: newID(), Admin: first == "admin"}
		st.keys["key-"+first+"-"+newID()+newID()] = email
	}
	return st
}

// putFile adds a file. The caller holds the lock.
func (st *state) putFile(f *file) {
	st.files[f.ID] = f
	if st.filesOf[f.DatasetID] == nil {
		st.filesOf[f.DatasetID] = map[string]*file{}
	}
	st.filesOf[f.DatasetID][f.ID] = f
}

// dropFile removes a file. The caller holds the lock.
func (st *state) dropFile(f *file) {
	delete(st.files, f.ID)
	delete(st.filesOf[f.DatasetID], f.ID)
}

// putFolder adds a folder. The caller holds the lock.
func (st *state) putFolder(f *folder) {
	st.folders[f.ID] = f
	if st.foldersOf[f.DatasetID] == nil {
		st.foldersOf[f.DatasetID] = map[string]*folder{}
	}
	st.foldersOf[f.DatasetID][f.ID] = f
}

// newID makes an ObjectId: the time in seconds, then random bytes.
func newID() string {
	var tail [8]byte
	_, _ = rand.Read(tail[:]) // never fails
	return fmt.Sprintf("%08x%s", time.Now().Unix(), hex.EncodeToString(tail[:]))
}

// isID reports whether text is an ObjectId. The real Clowder answers 500 to anything else.
func isID(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == 24
}

// mayAccess reports whether a user has any role on a dataset. v2 is meant to distinguish roles, but does not.
func (d *dataset) mayAccess(u user) bool {
	return d.Creator.Email == u.Email || d.roles[u.Email] != ""
}

// JobKeyMark is the prefix of all keys in job messages, so that a test can search for leaks.
const JobKeyMark = "jobkey-"

// jobKey returns the key in the messages of a user's jobs. It never expires and is the same for all jobs of the user.
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
	for f := st.folders[id]; f != nil && !slices.Contains(path, f); {
		path = append([]*folder{f}, path...)
		if f.Parent == nil {
			break
		}
		f = st.folders[*f.Parent]
	}
	return path
}
