package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ncsa/clowder-ray/internal/job"
)

const (
	// leastBytes must arrive within Config.IdleTimeout, or else the connection is given up.
	leastBytes = 16 << 10
	// progressBytes is the progress in bytes after which the attempts of a download are counted from zero.
	progressBytes = 1 << 20
)

var errIdle = errors.New("no data arrived for too long")

// Open reads a file of a commit from the byte at offset on. If the connection breaks off, the reader goes on where it stopped, also at a
// server that knows no ranges. It returns as many bytes as the server sends, so the caller should not read more than f.Size says plus one.
// The caller closes it before ctx ends.
func (c *Client) Open(ctx context.Context, id, commit string, f File, offset int64) (io.ReadCloser, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	address, err := c.fileURL(id, commit, f.Path)
	if err != nil {
		return nil, err
	}
	d := &download{c: c, ctx: ctx, target: target{id: id, revision: commit, file: f.Path}, address: address, size: f.Size, at: offset}
	d.restart()
	if err := d.reopen(); err != nil {
		return nil, err
	}
	return d, nil
}

// download is one file on its way, over as many connections as it takes.
type download struct {
	c       *Client
	ctx     context.Context //nolint:containedctx // the reader belongs to the call that opened it
	target  target
	address string
	size    int64
	at      int64 // the next byte

	body    io.ReadCloser // nil: no connection
	failed  error         // what ended the download
	dog     *watchdog
	attempt int
	counted int64 // the byte at which the attempts began to be counted
	pauses  *backoff.ExponentialBackOff
}

// Read implements io.Reader.
func (d *download) Read(p []byte) (int, error) {
	for {
		if d.failed != nil {
			return 0, d.failed
		}
		n, err := d.body.Read(p)
		d.at += int64(n)
		d.dog.took(n)
		switch {
		case n > 0:
			return n, nil
		case err == nil:
			continue
		case errors.Is(err, io.EOF) && d.at >= d.size:
			return 0, io.EOF
		}
		err = d.broken(err)
		d.disconnect()
		if d.at-d.counted >= progressBytes {
			d.restart()
		}
		if d.next(err) {
			err = d.reopen()
		}
		d.failed = err
	}
}

// broken says why a connection gave no more bytes.
func (d *download) broken(err error) error {
	switch {
	case d.ctx.Err() != nil:
		return d.ctx.Err()
	case errors.Is(context.Cause(d.dog.ctx), errIdle):
		err = errIdle
	}
	return d.c.transportError(d.target, err)
}

// Close implements io.Closer.
func (d *download) Close() error {
	d.disconnect()
	return nil
}

// restart counts the attempts from 1 again.
func (d *download) restart() {
	d.attempt, d.counted, d.pauses = 1, d.at, d.c.pauses()
}

// next waits before another attempt, or reports false if there is none.
func (d *download) next(err error) bool {
	again := d.c.again(d.ctx, err, d.attempt, d.pauses)
	d.attempt++
	return again
}

// reopen connects until it succeeds or no attempt is left.
func (d *download) reopen() error {
	for {
		err := d.connect()
		if err == nil || !d.next(err) {
			return err
		}
	}
}

// connect makes a request for the bytes from d.at on.
func (d *download) connect() error {
	d.dog = watch(d.ctx, d.c.cfg.IdleTimeout)
	req, err := http.NewRequestWithContext(d.dog.ctx, http.MethodGet, d.address, nil)
	if err != nil {
		d.disconnect()
		return job.Permanent(sentence("The address of %s is not valid.", d.target.what()))
	}
	req.Header.Set("User-Agent", userAgent)
	if d.c.cfg.Token != "" {
		req.Header.Set("Authorization", "Bearer "+d.c.cfg.Token.Reveal())
	}
	if d.at > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.at))
	}
	answer, err := d.c.files.Do(req) //nolint:bodyclose // disconnect closes it
	if err == nil {
		d.body = answer.Body
		err = d.accept(answer)
	} else {
		err = d.broken(err)
	}
	if err != nil {
		d.disconnect()
	}
	return err
}

func (d *download) disconnect() {
	if d.body != nil {
		_ = d.body.Close()
		d.body = nil
	}
	if d.dog != nil {
		d.dog.stop()
	}
}

// accept checks an answer and brings its body to the byte at d.at.
func (d *download) accept(answer *http.Response) error {
	var total int64
	switch answer.StatusCode {
	case http.StatusOK:
		total = answer.ContentLength
	case http.StatusPartialContent:
		first, whole, ok := contentRange(answer.Header.Get("Content-Range"))
		if !ok || first != d.at {
			return job.Permanent(sentence("The Hub sends another part of %s than it was asked for. Try another mirror.", d.target.what()))
		}
		total = whole
	default:
		return d.c.answerError(d.target, answer.StatusCode, answer.Header, d.c.isEndpoint(answer.Request.URL))
	}
	if total >= 0 && total != d.size {
		return job.Permanent(sentence("%s has %d bytes where the Hub says %d. Try again, or try another mirror.", d.target.what(), total, d.size))
	}
	if answer.StatusCode == http.StatusOK && d.at > 0 { // the server knows no ranges
		return d.skip(d.at)
	}
	return nil
}

// skip reads n bytes that have arrived before.
func (d *download) skip(n int64) error {
	buffer := make([]byte, 64<<10)
	for n > 0 {
		got, err := d.body.Read(buffer[:min(n, int64(len(buffer)))])
		n -= int64(got)
		d.dog.took(got)
		if err != nil && n > 0 {
			return d.broken(err)
		}
	}
	return nil
}

var rangePattern = regexp.MustCompile(`^bytes (\d{1,18})-\d{1,18}/(\d{1,18}|\*)$`)

// contentRange reads a header such as Content-Range: bytes 100-999/1000. whole is -1 if the header does not say it.
func contentRange(header string) (first, whole int64, ok bool) {
	found := rangePattern.FindStringSubmatch(header)
	if found == nil {
		return 0, 0, false
	}
	first, _ = strconv.ParseInt(found[1], 10, 64)
	if whole, _ = strconv.ParseInt(found[2], 10, 64); found[2] == "*" {
		whole = -1
	}
	return first, whole, true
}

// watchdog ends a context with errIdle if too few bytes arrive for a while.
type watchdog struct {
	ctx   context.Context //nolint:containedctx // the watchdog ends it
	timer *time.Timer
	idle  time.Duration
	bytes int
	stop  func()
}

func watch(ctx context.Context, idle time.Duration) *watchdog {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(idle, func() { cancel(errIdle) })
	return &watchdog{ctx: ctx, timer: timer, idle: idle, stop: func() {
		timer.Stop()
		cancel(nil)
	}}
}

// took counts bytes that arrived.
func (w *watchdog) took(n int) {
	if w.bytes += n; w.bytes >= leastBytes {
		w.bytes = 0
		w.timer.Reset(w.idle)
	}
}
