package cache

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
)

// writeAhead is the number of bytes after which the kernel is asked to start writing a part file to disk.
const writeAhead = 32 << 20

// Body is a complete body that Put can store.
type Body struct {
	part    string // the part file; empty: content is the body
	content []byte
	sum     string
}

// NewBody returns a body that was downloaded into memory. sum is its sha256 in hex.
func NewBody(content []byte, sum string) Body { return Body{content: content, sum: sum} }

// Part is a body that is being downloaded into a file of the cache. It is not safe for concurrent use.
type Part struct {
	cache          *Cache
	file           *os.File
	name           string
	written, asked int64
	asking         atomic.Bool // the kernel is being asked; that takes long while the disk has much to do
	asks           sync.WaitGroup
}

// NewPart makes an empty part file and reserves size bytes of the disk for it. The caller closes it.
func (c *Cache) NewPart(size int64) (*Part, error) {
	name := partName()
	f, err := c.create(name)
	if err != nil {
		return nil, err
	}
	reserve(f, size)
	return &Part{cache: c, file: f, name: name}, nil
}

// Write appends bytes, and asks the kernel now and then to start writing them to disk. It does not wait for that.
func (p *Part) Write(piece []byte) (int, error) {
	n, err := p.file.Write(piece)
	if p.written += int64(n); p.written-p.asked >= writeAhead && p.asking.CompareAndSwap(false, true) {
		from, to := p.asked, p.written
		p.asked = to
		p.asks.Go(func() {
			startWriting(p.file, from, to-from)
			p.asking.Store(false)
		})
	}
	return n, err
}

// Close closes the file.
func (p *Part) Close() error {
	p.asks.Wait()
	return p.file.Close()
}

// Body returns the closed part as a body. sum is its sha256 in hex.
func (p *Part) Body(sum string) Body { return Body{part: p.name, sum: sum} }

// Remove removes the closed part. If that fails, Open removes the file at a later start.
func (p *Part) Remove() { _ = p.cache.root.Remove(p.name) }

// partName is a name for an incomplete file.
func partName() string {
	return fmt.Sprintf("%016x%s", rand.Uint64(), partSuffix) //nolint:gosec // a name, not a secret
}

// create opens a new file for writing. If the name is taken, the error wraps fs.ErrExist.
func (c *Cache) create(name string) (*os.File, error) {
	return c.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, bodyMode)
}

func (c *Cache) writeNew(name string, content []byte) error {
	f, err := c.create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, c.root.Remove(name))
	}
	return nil
}
