package s3

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/ncsa/clowder-ray/internal/cache"
	"github.com/ncsa/clowder-ray/internal/job"
)

const (
	// idle is the longest time without a byte of a download.
	idle = time.Minute
	// tries is how often a download may break off without a new byte.
	tries      = 4
	copyBuffer = 256 << 10
	// fullObject is the checksum that does not depend on the sizes of parts.
	fullObject = "FULL_OBJECT"
)

// download is one object on its way into the cache.
type download struct {
	client  *minio.Core
	address Address // of the object, for errors
	object  object
	part    *cache.Part
	check   hash.Hash // computes what want is
	want    string    // the checksum that the store has, empty for none
	written int64
}

// fetch downloads an object into the cache. A connection that breaks is continued at the byte where it broke. An object that is
// replaced meanwhile is an error.
func (s *Store) fetch(ctx context.Context, client *minio.Core, a Address, o object) (cache.Body, error) {
	part, err := s.cache.NewPart(o.size)
	if err != nil {
		return cache.Body{}, diskFault(err)
	}
	d := &download{
		client: client, address: Address{Bucket: a.Bucket, Prefix: o.key}, object: o, part: part,
		check: minio.ChecksumCRC64NVME.Hasher(),
	}
	err = d.all(ctx, s.pause)
	if closed := part.Close(); err == nil && closed != nil {
		err = diskFault(closed)
	}
	if err != nil {
		part.Remove()
		return cache.Body{}, err
	}
	return part.Body(), nil
}

// all reads the object to its end.
func (d *download) all(ctx context.Context, pause time.Duration) error {
	for left := tries; ; {
		before := d.written
		err := d.rest(ctx)
		if err == nil {
			return d.verify()
		}
		if kind, _ := job.Classify(err); kind != job.KindRetryable || ctx.Err() != nil || d.whole() {
			return err
		}
		if left--; d.written > before {
			left = tries
		}
		if left == 0 {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// whole reports whether all bytes arrived. Their client may still find that they differ from the checksum of the store.
func (d *download) whole() bool { return d.written > 0 && d.written == d.object.size }

// rest reads what is missing.
func (d *download) rest(parent context.Context) error {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	watchdog := time.AfterFunc(idle, func() { stop(job.Retryable(fmt.Errorf("the store sent no byte of %s for %s", d.address, idle))) })
	defer watchdog.Stop()
	options := minio.GetObjectOptions{Checksum: d.written == 0}
	err := options.SetMatchETag(d.object.etag)
	if err == nil && d.written > 0 {
		err = options.SetRange(d.written, 0)
	}
	if err != nil {
		return fault(ctx, err, "read", d.address)
	}
	body, info, _, err := d.client.GetObject(ctx, d.address.Bucket, d.object.key, options)
	if err != nil {
		return fault(ctx, err, "read", d.address)
	}
	defer func() { _ = body.Close() }()
	if d.written == 0 && info.ChecksumMode == fullObject {
		d.want = info.ChecksumCRC64NVME
	}
	buffer := make([]byte, copyBuffer)
	for {
		n, err := body.Read(buffer)
		if n > 0 {
			watchdog.Reset(idle)
			if err := d.write(buffer[:n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF) && d.written == d.object.size:
			return nil
		case errors.Is(err, io.EOF):
			return job.Retryable(fmt.Errorf("the store sent %d of %d bytes of %s", d.written, d.object.size, d.address))
		case err != nil:
			return fault(ctx, err, "read", d.address)
		}
	}
}

func (d *download) write(piece []byte) error {
	if d.written+int64(len(piece)) > d.object.size {
		return job.Permanent(fmt.Errorf("%s %w: submit again when nobody writes to it", d.address, errChanged))
	}
	n, err := d.part.Write(piece)
	d.check.Write(piece[:n])
	d.written += int64(n)
	return diskFault(err)
}

// verify compares the checksum that the store keeps, if it keeps one of the whole object.
func (d *download) verify() error {
	if got := base64.StdEncoding.EncodeToString(d.check.Sum(nil)); d.want != "" && got != d.want {
		return job.Retryable(fmt.Errorf("the bytes of %s differ from the checksum of the store", d.address))
	}
	return nil
}
