package v1

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/ability"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// The rights that errors name.
const (
	mayView     = "view the dataset"
	mayDownload = "download the files of the dataset (editor)"
	mayAdd      = "add files to the dataset (editor)"
	mayDelete   = "delete the file"
)

// Number is the version of Clowder whose routes are in this package.
const Number = 1

// Abilities are what Clowder v1 can do.
func Abilities() ability.Set {
	return ability.Set{CancelsQueued: true, DropsReplyQueue: true, OffersForFiles: true, RefusesWith500: true}
}

// About is the path below its address at which Clowder v1 says its version.
func About() []string { return []string{"api", "version"} }

// Session acts with the rights of the user to whom its key belongs. It is safe for concurrent use.
type Session struct {
	wire *clowder.Wire
	// folders are those that were seen in a dataset, as dataset/folder, and files the uploads that were seen to be stored. Neither can be
	// undone, except by a deletion. This saves two calls for each upload.
	folders seen
	files   seen
	// recent is the list in which a folder was found last.
	recent recentFolders
}

// seen is a set of ids.
type seen struct{ ids sync.Map }

func (s *seen) add(id string) { s.ids.Store(id, true) }

func (s *seen) remove(id string) { s.ids.Delete(id) }

func (s *seen) has(id string) bool {
	_, found := s.ids.Load(id)
	return found
}

// At returns a session for a message of Clowder v1 with this host. A configured address overrides the host. Without one, the host must
// equal one of the allowed ones; otherwise the error is permanent and written for the user.
func At(c *clowder.Client, host string, key job.Secret) (*Session, error) {
	s := &Session{}
	wire, err := c.Wire(host, key, clowder.Dialect{Version: Number, Root: []string{"api"}, Detail: detail, Open: s.open})
	if err != nil {
		return nil, err
	}
	s.wire = wire
	return s, nil
}

// Address is the normalised address of the Clowder.
func (s *Session) Address() string { return s.wire.Address() }

// Stage puts the files into dir; see [clowder.Session.Stage].
func (s *Session) Stage(ctx context.Context, files []clowder.File, dir disk.Folder, progress func(clowder.Progress)) ([]job.Input, error) {
	return s.wire.Stage(ctx, files, dir, progress)
}

// StagePart puts files into the folder of p; see [clowder.Session.StagePart].
func (s *Session) StagePart(ctx context.Context, files []clowder.File, p *clowder.Parts) ([]job.Input, error) {
	return s.wire.StagePart(ctx, files, p)
}

func get(what, right string, into any, path ...string) clowder.Call {
	return clowder.Call{What: what, Right: right, Method: http.MethodGet, Path: path, Into: into}
}

func post(what, right string, body, into any, path ...string) clowder.Call {
	return clowder.Call{What: what, Right: right, Method: http.MethodPost, Path: path, Body: body, Into: into, Once: true}
}

// do makes a call and says what a 401 means.
func (s *Session) do(ctx context.Context, c clowder.Call) error {
	return s.explained(ctx, c, func() error { return s.wire.Do(ctx, c) })
}

// explained runs call, which makes the call c. A 401 has no effect in Clowder, so call runs again after the key was sent in the wrong place.
func (s *Session) explained(ctx context.Context, c clowder.Call, call func() error) error {
	err := call()
	if clowder.StatusOf(err) != http.StatusUnauthorized {
		return err
	}
	before := s.wire.KeyInQuery()
	if _, meErr := s.me(ctx); meErr != nil {
		if said, ok := errors.AsType[*clowder.AnswerError](meErr); ok && said.Status == http.StatusUnauthorized && said.Said == "" {
			return err // it is the key, and the call says what is refused
		}
		return meErr
	}
	if !before && s.wire.KeyInQuery() {
		if err = call(); clowder.StatusOf(err) != http.StatusUnauthorized {
			return err
		}
	}
	if c.Method == http.MethodGet {
		return job.Permanent(clowder.NewAnswerError(http.StatusNotFound, fmt.Sprintf("Clowder could not %s (401): it was deleted, or you lack the right to %s", c.What, c.Right)))
	}
	return job.Permanent(clowder.NewAnswerError(http.StatusForbidden, fmt.Sprintf("Clowder refused to %s (401): ask the dataset owner for the right to %s, then submit again", c.What, c.Right)))
}

// user is a person as v1 shows them. The key of the installation belongs to nobody, so its email is null.
type user struct {
	ID    string `json:"id"`
	Name  string `json:"fullName"`
	Email string `json:"email"`
}

// me identifies the owner of the key, and finds out how Clowder takes the key. A key that Clowder does not accept is the error of
// a 401, with the reason if Clowder gives one, such as new terms of service.
func (s *Session) me(ctx context.Context) (user, error) {
	var out user
	c := get("identify the owner of the API key", "use Clowder", &out, "me")
	err := s.wire.Do(ctx, c)
	refused, _ := errors.AsType[*clowder.AnswerError](err)
	if clowder.StatusOf(err) != http.StatusUnauthorized || s.wire.KeyInQuery() || refused.Said != "" {
		return out, err // with a reason, the key is that of a user: it stays out of the query
	}
	c.KeyInQuery = true
	if s.wire.Do(ctx, c) != nil {
		return out, err
	}
	s.wire.PutKeyInQuery()
	return out, nil
}

// administrator is what the owner of the key of the installation is called, because v1 does not name one.
const administrator = "an administrator"

// CheckKey returns the e-mail address of the user to whom the key belongs. It fails if Clowder refuses the key.
func (s *Session) CheckKey(ctx context.Context) (string, error) {
	me, err := s.me(ctx)
	if err == nil && me.Email == "" {
		return administrator, nil
	}
	return me.Email, err
}

// Profile returns the user of the session. The key of the installation is refused, with which everybody could do everything in the name of
// nobody: Clowder takes it in a query only, and a key that somebody typed is not tried there.
func (s *Session) Profile(ctx context.Context) (clowder.Profile, error) {
	var me user
	err := s.wire.Do(ctx, get("identify you", "use Clowder", &me, "me"))
	switch {
	case err != nil:
		return clowder.Profile{}, err
	case me.Email == "" || len(me.Email) > maxLabel:
		return clowder.Profile{}, job.Permanent(clowder.ErrNobody)
	}
	return clowder.Profile{Email: me.Email, FirstName: text.Shorten(me.Name, maxLabel)}, nil
}

// maxLabel limits the name and the e-mail address of a user, in characters.
const maxLabel = 255

// datasetRow is a dataset as v1 sends it. It does not name the owner.
type datasetRow struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Dataset reads a dataset. v1 tells neither its creator nor who may see it.
func (s *Session) Dataset(ctx context.Context, id string) (clowder.Dataset, error) {
	var row datasetRow
	if err := clowder.CheckIDs("dataset", id); err != nil {
		return clowder.Dataset{}, err
	}
	err := s.do(ctx, get("read the dataset", mayView, &row, "datasets", id))
	return clowder.Dataset{ID: row.ID, Name: row.Name, Description: row.Description}, err
}

// CreateDataset makes a dataset of the user and returns its id. After an error of kind unknown it may exist.
func (s *Session) CreateDataset(ctx context.Context, name, description string) (string, error) {
	var made struct {
		ID string `json:"id"`
	}
	c := post("create a dataset", "create datasets", map[string]string{"name": name, "description": description}, &made, "datasets", "createempty")
	err := s.do(ctx, c)
	return made.ID, err
}

// Role returns what the user may do with a dataset. v1 has no call for it; the list of folders is for users who may add to the dataset.
func (s *Session) Role(ctx context.Context, dataset string) (clowder.Role, error) {
	_, err := s.Dataset(ctx, dataset)
	if clowder.StatusOf(err) == http.StatusNotFound {
		return clowder.NoRole, nil
	}
	if err == nil {
		_, err = s.listFolders(ctx, dataset)
	}
	switch {
	case err == nil:
		return clowder.RoleEditor, nil
	case clowder.StatusOf(err) == http.StatusNotFound:
		return clowder.RoleViewer, nil
	default:
		return clowder.NoRole, err
	}
}

// Submit submits the dataset to an extractor, as the page of Clowder does, and returns the id of the job. Clowder does not check that the
// extractor exists.
func (s *Session) Submit(ctx context.Context, dataset, extractor string, parameters map[string]any) (string, error) {
	if err := clowder.CheckIDs("dataset", dataset); err != nil {
		return "", err
	}
	if parameters == nil {
		parameters = map[string]any{}
	}
	var made struct {
		JobID string `json:"job_id"`
	}
	c := post("submit the dataset to "+extractor, "submit the dataset (editor)", map[string]any{"extractor": extractor, "parameters": parameters}, &made, "datasets", dataset, "extractions")
	err := s.do(ctx, c)
	return made.JobID, err
}

// detail returns what the body of an error says. v1 sends a text, a JSON text, or an object with message or msg. The object of a 500 has a
// Java stack trace in "exception", which is for nobody here, and "request" repeats the address with its query.
func detail(body []byte) string {
	body = bytes.TrimSpace(body)
	var said string
	var object struct {
		Message json.RawMessage `json:"message"`
		Msg     json.RawMessage `json:"msg"`
	}
	switch {
	case len(body) == 0 || body[0] == '<' || string(body) == "Not authorized":
		return ""
	case json.Unmarshal(body, &said) == nil:
	case json.Unmarshal(body, &object) == nil:
		if json.Unmarshal(object.Message, &said) != nil {
			_ = json.Unmarshal(object.Msg, &said) // anything but a text says nothing to a person
		}
	case body[0] != '{' && body[0] != '[':
		said = string(body)
	}
	return said
}
