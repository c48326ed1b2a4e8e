package clowder

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/ncsa/clowder-ray/internal/clowder/connect"
	"github.com/ncsa/clowder-ray/internal/clowder/jsonscan"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// Dialect is what differs between the versions of Clowder in how calls are made. The zero value is Clowder v2.
type Dialect struct {
	// Version is the number of the version, by which its address is found in the configuration.
	Version int
	// Root is the path of the API below the address of Clowder.
	Root []string
	// Detail returns what the body of an error says to a user, empty for nothing.
	Detail func(body []byte) string
	// Open requests the bytes of a file. The id of the file is checked, and the caller closes the body.
	Open func(ctx context.Context, f File) (*http.Response, error)
}

// Wire makes the calls of a user for a version of Clowder whose routes are in another package. It shares connections, retries, limits and
// the cache with all sessions of its Client, and is safe for concurrent use. Its errors carry an outcome of package job.
type Wire struct{ s *Session }

// Wire returns the wire to the Clowder that sent a message of the dialect's version with this host. A configured address overrides the host;
// see At.
func (c *Client) Wire(host string, key job.Secret, d Dialect) (*Wire, error) {
	base, err := c.address(d.Version, host)
	if err != nil {
		return nil, err
	}
	return &Wire{&Session{c: c, base: base, key: key, dialect: d}}, nil
}

// Call is one request. Its body and its answer fit into memory.
type Call struct {
	// What follows "Clowder refused to", and Right is the right that a user may lack: "view the dataset".
	What, Right string
	Method      string
	// Path is below the root of the dialect. The caller has checked all ids in it.
	Path  []string
	Query url.Values
	// Body is sent as JSON, unless it is nil. Into receives the JSON of the answer, unless it is nil.
	Body, Into any
	// Once marks a call that must not be repeated, because each successful call creates something new.
	Once bool
	// MostBytes is how long a list may be that Rows reads; 0 is 64 MB.
	MostBytes int64
	// KeyInQuery sends the key as a query parameter in a call of Do; see PutKeyInQuery.
	KeyInQuery bool
}

// Invalid is the error about an answer of Get with status 200 that is not what the API documents.
func (c Call) Invalid(answer *http.Response, err error) error {
	return invalidAnswer(c.operation(), answer, err)
}

func (c Call) operation() operation { return operation{what: c.What, right: c.Right, once: c.Once} }

// Do makes a call, and repeats it with a back-off where that is safe.
func (w *Wire) Do(ctx context.Context, c Call) error {
	return w.s.do(ctx, call{
		operation: c.operation(), method: c.Method, path: c.Path, query: c.Query, body: c.Body, into: c.Into, keyInQuery: c.KeyInQuery,
	})
}

// Send posts a form with one file in the named field. It is never repeated.
func (w *Wire) Send(ctx context.Context, c Call, field string, body Body) error {
	c.Once = true
	return w.s.send(ctx, c.operation(), http.MethodPost, w.address(c), field, body, c.Into)
}

// Get requests a body of any length, once. The caller reads and closes it; ctx limits the reading, too.
func (w *Wire) Get(ctx context.Context, c Call) (*http.Response, error) {
	return w.s.stream(ctx, c.operation(), w.s.c.api, w.address(c), true)
}

func (w *Wire) address(c Call) string {
	address := w.s.url(c.Path...)
	if len(c.Query) > 0 {
		address += "?" + c.Query.Encode()
	}
	return address
}

// maxListing is the size in bytes of the largest list that Rows reads: 50,000 files take about 10 MB.
const maxListing = 64 << 20

// ErrEnough ends Rows before the end of the list, without an error.
var ErrEnough = errors.New("no more rows are needed")

// Rows reads a list that has no pages and calls add for each member, in memory that does not depend on their number. Members that are larger
// than a row of Clowder are left out. Before a retry it calls begin.
func (w *Wire) Rows(ctx context.Context, c Call, begin func(), add func(json.RawMessage) error) error {
	return w.s.c.retry(ctx, func() error {
		begin()
		return w.rows(ctx, c, add)
	})
}

func (w *Wire) rows(ctx context.Context, c Call, add func(json.RawMessage) error) error {
	ctx, dog, stop := connect.Watch(ctx, w.s.c.cfg.CallTimeout)
	defer stop()
	answer, err := w.Get(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	decoder := json.NewDecoder(io.LimitReader(answer.Body, cmp.Or(c.MostBytes, maxListing)))
	fault := func(err error) error {
		if ctx.Err() != nil {
			return transportError(ctx, c.operation(), true, err)
		}
		return invalidAnswer(c.operation(), answer, err)
	}
	switch begin, err := decoder.Token(); {
	case err != nil:
		return fault(err)
	case begin != json.Delim('['):
		return fault(errors.New("it is not a list"))
	}
	for decoder.More() {
		var row json.RawMessage
		if err := decoder.Decode(&row); err != nil {
			return fault(err)
		}
		dog.Touch()
		if len(row) > jsonscan.MaxRowBytes {
			continue
		}
		if err := add(row); errors.Is(err, ErrEnough) {
			return nil
		} else if err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return fault(err)
	}
	return nil
}

// Stage puts the files into dir; see [Session.Stage]. Their bytes come from Dialect.Open.
func (w *Wire) Stage(ctx context.Context, files []File, dir disk.Folder, progress func(Progress)) ([]job.Input, error) {
	return w.s.Stage(ctx, files, dir, progress)
}

// StagePart puts files into a folder; see [Session.StagePart].
func (w *Wire) StagePart(ctx context.Context, files []File, p *Parts) ([]job.Input, error) {
	return w.s.StagePart(ctx, files, p)
}

// Address is the normalised address of the Clowder.
func (w *Wire) Address() string { return w.s.Address() }

// Config returns how the client reaches Clowder, with all defaults.
func (w *Wire) Config() Config { return w.s.c.cfg }

// CheckCount refuses a dataset with too many files.
func (w *Wire) CheckCount(files []File) error { return w.s.c.checkCount(files) }

// CheckIDs returns a permanent error that names the first invalid id. The arguments are pairs: what the id is of, and the id.
func CheckIDs(pairs ...string) error { return checkIDs(pairs...) }

// CheckName refuses the name of a file or folder that Clowder cannot keep.
func CheckName(what, name string) error { return checkName(what, name) }

// keyParameter carries the key of a user to a Clowder v1 that does not take it as a header.
const keyParameter = "key"

// PutKeyInQuery sends the key as a query parameter from now on, in all sessions of this key with this Clowder. A query stands in the log
// of web servers, so this is only for a key that Clowder does not take as a header.
func (w *Wire) PutKeyInQuery() { w.s.c.inQuery.Store(w.s.digest(), true) }

// KeyInQuery reports whether the key is sent as a query parameter.
func (w *Wire) KeyInQuery() bool { return w.s.keyInQuery() }

func (s *Session) keyInQuery() bool {
	_, found := s.c.inQuery.Load(s.digest())
	return found
}

// digest stands for the key of the session at its Clowder.
func (s *Session) digest() [sha256.Size]byte {
	return sha256.Sum256([]byte(s.base.String() + "\x00" + s.key.Reveal()))
}

// authorize adds the key or the access token to a request.
func (s *Session) authorize(req *http.Request) {
	if !s.keyInQuery() {
		req.Header.Set(s.credential())
		return
	}
	query := req.URL.Query()
	query.Set(keyParameter, s.key.Reveal())
	req.URL.RawQuery = query.Encode()
}
