package clowder

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/cache"
	"github.com/ncsa/clowder-ray/internal/clowder/connect"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// copyBuffer is the size in bytes of the buffer of a download.
	copyBuffer = 256 << 10
	// errorBody is how many bytes of an error answer are read.
	errorBody = 8 << 10
)

//nolint:gochecknoglobals // a pool of buffers is shared by nature and holds no state
var buffers = sync.Pool{New: func() any { b := make([]byte, copyBuffer); return &b }}

// smallBody is the size up to which a body is downloaded into memory, one per stream. This saves the rename of a part file, which
// costs a file system as much as making the file.
const smallBody = 64 << 10

// fetch brings one file into the cache: from a mounted folder, or by a download. A retry starts at the first byte, since v2 has no range requests. add is called with the
// number of new bytes, and with a negative number before a retry.
func (s *Session) fetch(ctx context.Context, f File, add func(int64)) (got cache.Body, err error) {
	if got, done, err := s.fromMount(ctx, f, add); done || err != nil {
		return got, err
	}
	err = s.c.retry(ctx, func() error {
		got, err = s.fetchOnce(ctx, f, add)
		return err
	})
	return got, err
}

func (s *Session) fetchOnce(ctx context.Context, f File, add func(int64)) (cache.Body, error) {
	ctx, dog, stop := connect.Watch(ctx, s.c.cfg.IdleTimeout)
	defer stop()
	op := operation{what: fmt.Sprintf("download %q", text.Excerpt(f.Path, 80)), right: mayView}
	answer, err := s.open(ctx, op, f)
	if err != nil {
		return cache.Body{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	return s.receive(ctx, op, f, answer.Body, &bodySink{dog: dog, pace: connect.Pace{Least: s.c.cfg.MinRate, Window: s.c.cfg.RateWindow}, add: add})
}

// fromMount copies a file that a mounted folder has. A file that is not there, or has another size than Clowder lists, is downloaded. It is
// copied and not linked, because others can write to the folder.
func (s *Session) fromMount(ctx context.Context, f File, add func(int64)) (got cache.Body, done bool, err error) {
	if f.Stored == "" || !s.c.mounts.Covers(f.Stored) {
		return got, false, nil
	}
	file, before, err := s.c.mounts.OpenFile(f.Stored)
	if err == nil && before.Size() != f.Size {
		err = errors.Join(fmt.Errorf("it has %d bytes instead of %d", before.Size(), f.Size), file.Close())
	}
	if err != nil {
		s.c.log.Warn("a file is not as expected in its mounted folder, downloading it", zap.String("file_id", f.ID), zap.Error(err))
		return got, false, nil
	}
	defer func() { _ = file.Close() }()
	ctx, dog, stop := connect.Watch(ctx, s.c.cfg.IdleTimeout)
	defer stop()
	op := operation{what: fmt.Sprintf("copy %q", text.Excerpt(f.Path, 80)), right: mayView}
	got, err = s.receive(ctx, op, f, file, &bodySink{dog: dog, pace: connect.Pace{Window: s.c.cfg.RateWindow}, add: add})
	if after, statErr := file.Stat(); err == nil && (statErr != nil || after.ModTime().UnixNano() != f.changed || before.ModTime() != after.ModTime()) {
		err = job.Retryable(errors.Join(errors.New("it was overwritten"), statErr))
		add(-f.Size)
		s.c.cache.Discard(got)
	}
	if kind, _ := job.Classify(err); err != nil && kind != job.KindPermanent && ctx.Err() == nil {
		s.c.log.Warn("a file of a mounted folder changed while it was copied, downloading it", zap.String("file_id", f.ID), zap.Error(err))
		return got, false, nil
	}
	return got, err == nil, err
}

// receive reads a body into the cache.
func (s *Session) receive(ctx context.Context, op operation, f File, from io.Reader, sink *bodySink) (cache.Body, error) {
	if f.Size <= smallBody {
		var memory bytes.Buffer
		memory.Grow(int(f.Size))
		sink.out = &memory
		if err := sink.copy(ctx, op, from, f.Size); err != nil {
			sink.add(-sink.written)
			return cache.Body{}, err
		}
		sum := sha256.Sum256(memory.Bytes())
		return cache.NewBody(memory.Bytes(), hex.EncodeToString(sum[:])), nil
	}
	part, err := s.c.cache.NewPart(f.Size)
	if err != nil {
		return cache.Body{}, diskError("store "+f.Path, err)
	}
	sink.out = part
	err = sink.copy(ctx, op, from, f.Size)
	if closed := part.Close(); err == nil {
		err = diskError("store "+f.Path, closed)
	}
	if err != nil {
		sink.add(-sink.written)
		part.Remove()
		return cache.Body{}, err
	}
	return part.Body(), nil
}

// open requests the newest body. v2 puts the name into a header and fails with 500 for a name outside Latin-1. Such files, and other files
// with this answer, are requested through a presigned address of the object store.
func (s *Session) open(ctx context.Context, op operation, f File) (*http.Response, error) {
	if err := checkIDs("file", f.ID); err != nil {
		return nil, err
	}
	if s.dialect.Open != nil {
		return s.dialect.Open(ctx, f)
	}
	return s.openVersion(ctx, op, f, url.Values{"increment": {"false"}})
}

// openVersion requests the body of the version in query, or of the newest one.
func (s *Session) openVersion(ctx context.Context, op operation, f File, query url.Values) (*http.Response, error) {
	if !isLatin1(f.Name) {
		return s.openPresigned(ctx, op, f.ID, query)
	}
	answer, err := s.stream(ctx, op, s.c.api, s.url("files", f.ID)+"?"+query.Encode(), true)
	if StatusOf(err) == http.StatusInternalServerError {
		if other, otherErr := s.openPresigned(ctx, op, f.ID, query); otherErr == nil {
			return other, nil
		}
	}
	return answer, err
}

func (s *Session) openPresigned(ctx context.Context, op operation, id string, query url.Values) (*http.Response, error) {
	var link struct {
		URL string `json:"presigned_url"`
	}
	c := call{operation: op, method: http.MethodGet, path: []string{"files", id, "url/"}, query: query, into: &link}
	if err := s.do(ctx, c); err != nil {
		return nil, err
	}
	address, err := url.Parse(link.URL)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.User != nil || !connect.AllowedHost(address.Hostname()) {
		return nil, job.Permanent(fmt.Errorf("Clowder returned an invalid download address when asked to %s", op.what)) //nolint:staticcheck // a name
	}
	return s.stream(ctx, op, s.c.storage, address.String(), false)
}

// stream makes a GET request. The caller reads and closes the body.
func (s *Session) stream(ctx context.Context, op operation, client *http.Client, address string, withKey bool) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("%s: %w", op.what, bare(err)))
	}
	req.Header.Set("User-Agent", userAgent)
	if withKey {
		s.authorize(req)
	}
	answer, err := client.Do(req)
	if err != nil {
		return nil, transportError(ctx, op, true, err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	body, _ := io.ReadAll(io.LimitReader(answer.Body, errorBody)) // the error is useful without the body, too
	_ = answer.Body.Close()
	return nil, s.answerError(op, answer.StatusCode, answer.Header, body)
}

// bodySink writes one body.
type bodySink struct {
	out     io.Writer
	dog     *connect.Watchdog
	pace    connect.Pace
	add     func(int64)
	written int64
}

// copy writes body and fails unless it has exactly size bytes. It reads at most one byte more.
func (b *bodySink) copy(ctx context.Context, op operation, body io.Reader, size int64) error {
	buffer, _ := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	body = io.LimitReader(body, size+1)
	for {
		asked := time.Now()
		n, err := body.Read(*buffer)
		waited := time.Since(asked)
		if n > 0 {
			b.dog.Touch()
			written, werr := b.out.Write((*buffer)[:n])
			b.written += int64(written)
			b.add(int64(written))
			if werr != nil {
				return diskError("store the file", werr)
			}
		}
		switch {
		case errors.Is(err, io.EOF) && b.written == size:
			return nil
		case errors.Is(err, io.EOF):
			return job.Retryable(fmt.Errorf("Clowder sent %d bytes instead of %d when asked to %s", b.written, size, op.what)) //nolint:staticcheck // a name
		case err != nil:
			return transportError(ctx, op, true, err)
		}
		if err := b.pace.Took(op.what, n, waited); err != nil {
			return err
		}
	}
}

func isLatin1(name string) bool {
	for _, r := range name {
		if r > 0xff {
			return false
		}
	}
	return true
}
