package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// errTooLarge ends a file that is longer than its limit.
var errTooLarge = errors.New("the file is too large")

// Fetch writes the file at an https address into to, at most limit bytes, and returns its size. If the connection breaks off, it goes on
// where it stopped. It follows redirects to https only, and sends no token. No error holds more of the address than its host, because its
// path and query may be secret. After an error, to holds a part of the file.
func Fetch(ctx context.Context, cfg Config, address string, limit int64, to io.Writer) (int64, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return 0, job.Permanent(errors.New("the address of a ZIP file must look like https://host/path/file.zip, without a user or a password"))
	}
	cfg.Endpoint, cfg.Token = u.Scheme+"://"+u.Host, ""
	c, err := New(cfg)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	f := &fetched{c: c, address: u.String(), limit: limit, to: to}
	err = c.retry(ctx, func() error { return f.attempt(ctx) })
	return f.at, err
}

// fetched is one file on its way, over as many connections as it takes.
type fetched struct {
	c       *Client
	address string
	limit   int64
	to      io.Writer
	at      int64  // the next byte
	tag     string // of the first answer, which says whether the file is still the same
}

// attempt loads the rest of the file over one connection.
func (f *fetched) attempt(ctx context.Context) error {
	dog := watch(ctx, f.c.cfg.IdleTimeout)
	defer dog.stop()
	req, err := http.NewRequestWithContext(dog.ctx, http.MethodGet, f.address, nil)
	if err != nil {
		return job.Permanent(sentence("The address of the ZIP file is not valid."))
	}
	req.Header.Set("User-Agent", userAgent)
	if f.at > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", f.at))
	}
	answer, err := f.c.files.Do(req)
	if err != nil {
		return f.broken(ctx, dog, err)
	}
	defer func() { _ = answer.Body.Close() }()
	skip, err := f.accept(answer)
	if err != nil {
		return err
	}
	buffer := make([]byte, 256<<10)
	for {
		n, err := answer.Body.Read(buffer)
		dog.took(n)
		known := min(skip, int64(n))
		skip -= known
		if err := f.write(buffer[known:n]); err != nil {
			return err
		}
		switch {
		case errors.Is(err, io.EOF) && skip == 0 && dog.ctx.Err() == nil: // a connection that is ended here may look like a clean end
			return nil
		case err != nil:
			return f.broken(ctx, dog, err)
		}
	}
}

// accept checks an answer and returns how many of its bytes were written before.
func (f *fetched) accept(answer *http.Response) (skip int64, err error) {
	host := f.c.base.Host
	total, tag := answer.ContentLength, answer.Header.Get("ETag")
	switch status := answer.StatusCode; {
	case status == http.StatusOK:
		skip = f.at
	case status == http.StatusPartialContent && f.at > 0:
		first, _, ok := contentRange(answer.Header.Get("Content-Range"))
		if !ok || first != f.at {
			return 0, job.Permanent(sentence("%s sends another part of the ZIP file than it was asked for.", host))
		}
		total += f.at
	case status == http.StatusTooManyRequests:
		return 0, job.Later(askedWait(answer.Header), sentence("%s takes no more requests now. Try again later.", host))
	case status >= 500 || status == http.StatusRequestTimeout:
		return 0, job.Retryable(sentence("%s fails to answer (HTTP %d). Try again later.", host, status))
	default:
		return 0, job.Permanent(sentence("%s does not give the ZIP file (HTTP %d). Check the address.", host, status))
	}
	if total > f.limit {
		return 0, f.tooLarge()
	}
	if f.at > 0 && tag != f.tag {
		return 0, job.Permanent(sentence("The ZIP file at %s changed while it was loaded. Run the command again.", host))
	}
	f.tag = tag
	return skip, nil
}

func (f *fetched) write(p []byte) error {
	if f.at+int64(len(p)) > f.limit {
		return f.tooLarge()
	}
	n, err := f.to.Write(p)
	f.at += int64(n)
	if err != nil {
		return job.Permanent(fmt.Errorf("write the ZIP file: %w", err))
	}
	return nil
}

func (f *fetched) tooLarge() error {
	return job.Permanent(sentence("The ZIP file at %s has more than %s: %w.", f.c.base.Host, text.Bytes(f.limit), errTooLarge))
}

// broken says why a connection gave no more bytes.
func (f *fetched) broken(ctx context.Context, dog *watchdog, err error) error {
	host := f.c.base.Host
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errRedirects), errors.Is(err, errDowngrade):
		return job.Permanent(sentence("%s does not give the ZIP file: %w.", host, bare(err)))
	case errors.Is(context.Cause(dog.ctx), errIdle), isTimeout(err):
		return job.Retryable(sentence("%s sent nothing for too long. Try again later.", host))
	default:
		return job.Retryable(sentence("The connection to %s breaks off: %w. Check the network and the proxy.", host, bare(err)))
	}
}
