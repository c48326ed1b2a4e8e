package clowder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ncsa/clowder-ray/internal/clowder/connect"
	"github.com/ncsa/clowder-ray/internal/clowder/jsonscan"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Body is the file of an upload: its name, its content type in Clowder, and its bytes, which are read once and not held in memory. A
// caller that repeats the upload causes another call of Open.
type Body struct {
	Name        string
	ContentType string
	Size        int64
	// Open opens the bytes. Its errors, and the errors of Read, keep their outcome: a permanent error is not retried.
	Open func() (io.ReadCloser, error)
}

// Upload adds a file to a folder of the dataset ("" is its root) and returns it as Clowder stored it.
//
// Clowder has no idempotency key: each successful upload makes a new file, also if the name exists. After an error of kind unknown,
// list the folder when no file in it is in flight.
func (s *Session) Upload(ctx context.Context, datasetID, folderID string, body Body) (File, error) {
	op := operation{what: fmt.Sprintf("store %q in the dataset", text.Shorten(body.Name, 80)), right: mayAdd, once: true}
	if err := checkIDs("dataset", datasetID); err != nil {
		return File{}, err
	}
	if err := checkName("file", body.Name); err != nil {
		return File{}, err
	}
	address := s.url("datasets", datasetID, "files")
	if folderID != "" {
		if err := checkIDs("folder", folderID); err != nil {
			return File{}, err
		}
		address += "?folder_id=" + folderID
	}
	var row fileRow
	if err := s.send(ctx, op, http.MethodPost, address, "file", body, &row); err != nil {
		return File{}, err
	}
	if row.Bytes != body.Size {
		return File{}, job.Unknown(fmt.Errorf("Clowder stored %d of the %d bytes of %q", row.Bytes, body.Size, body.Name)) //nolint:staticcheck // a name
	}
	return row.file(), nil
}

// send sends a multipart form with one file in the named field. It sends the length, because web servers in front of Clowder refuse chunked bodies.
// It sends the content type of the part, because Clowder shows no preview for octet-stream.
func (s *Session) send(ctx context.Context, op operation, method, address, field string, body Body, into any) error {
	in, err := body.Open()
	if err != nil {
		return fmt.Errorf("open %s: %w", body.Name, err)
	}
	defer func() { _ = in.Close() }()
	ctx, dog, stop := connect.Watch(ctx, s.c.cfg.IdleTimeout)
	defer stop()
	source := &exactReader{r: in, left: body.Size, dog: dog, after: s.c.cfg.AnswerTimeout}
	boundary := strings.ReplaceAll(uuid.NewString(), "-", "")
	head := fmt.Sprintf("--%s\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\nContent-Type: %s\r\n\r\n",
		boundary, field, quotedName(body.Name), contentType(body.ContentType))
	tail := "\r\n--" + boundary + "--\r\n"

	traced, sent := traceSent(ctx)
	// Only Read is visible, so that net/http copies through the buffers that it keeps: io.MultiReader makes a new one for each body.
	form := struct{ io.Reader }{io.MultiReader(strings.NewReader(head), source, strings.NewReader(tail))}
	req, err := http.NewRequestWithContext(traced, method, address, form)
	if err != nil {
		return job.Permanent(fmt.Errorf("%s: %w", op.what, bare(err)))
	}
	req.ContentLength = int64(len(head)) + body.Size + int64(len(tail))
	req.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
	req.Header.Set("User-Agent", userAgent)
	s.authorize(req)
	answer, err := s.c.api.Do(req)
	if err != nil {
		if source.fault != nil {
			return fmt.Errorf("read %s: %w", body.Name, source.fault) // an incomplete upload leaves nothing in Clowder
		}
		return transportError(ctx, op, sent.Load(), err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, jsonscan.MaxAnswer))
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return s.answerError(op, answer.StatusCode, answer.Header, text)
	}
	if err != nil {
		return transportError(ctx, op, true, err)
	}
	if err := jsonscan.DecodeAnswer(text, into); err != nil {
		return invalidAnswer(op, answer, err)
	}
	return nil
}

// quotedName escapes a checked file name for a header. Browsers write %22 for a quote, which Clowder would keep; it understands a
// backslash.
func quotedName(name string) string { return strings.ReplaceAll(name, `"`, `\"`) }

func contentType(declared string) string {
	if declared == "" || text.OneLine(declared) != declared {
		return "application/octet-stream"
	}
	return declared
}

// exactReader returns exactly left bytes and resets the watchdog. At the end it gives Clowder its time to answer.
type exactReader struct {
	r     io.Reader
	left  int64
	dog   *connect.Watchdog
	after time.Duration
	fault error
}

var errSourceChanged = errors.New("the file became shorter during the upload")

func (e *exactReader) Read(p []byte) (int, error) {
	if e.left == 0 {
		e.dog.Allow(e.after)
		return 0, io.EOF
	}
	e.dog.Touch()
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	switch {
	case errors.Is(err, io.EOF) && e.left > 0:
		e.fault = errSourceChanged
		return n, e.fault
	case err != nil && !errors.Is(err, io.EOF):
		e.fault = err
		return n, err
	default:
		return n, nil
	}
}
