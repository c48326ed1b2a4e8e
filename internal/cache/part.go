package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math/rand/v2"
	"os"
	"sync"
)

// pieceSize is how many bytes of a part file are hashed and written at once, and pieces how many such pieces a part has in memory at most.
const (
	pieceSize = 1 << 20
	pieces    = 4
)

//nolint:gochecknoglobals // a pool of buffers is shared by nature and holds no state
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, pieceSize); return &b }}

// Body is a complete body that Put can store.
type Body struct {
	part    string // the part file; empty: content is the body
	content []byte
	sum     string
}

// NewBody returns a body that was downloaded into memory. sum is its sha256 in hex.
func NewBody(content []byte, sum string) Body { return Body{content: content, sum: sum} }

// Discard removes a body that is not put into the cache. What it leaves, the next start removes.
func (c *Cache) Discard(body Body) {
	if body.part != "" {
		_ = c.root.Remove(body.part)
	}
}

// Part is a body that is being downloaded into a file of the cache. It collects what it gets in pieces. One goroutine hashes the full pieces and
// another one writes them, side by side with the download. It is not safe for concurrent use.
type Part struct {
	cache *Cache
	name  string
	disk  writer
	sum   hash.Hash
	piece *[]byte // not full; nil: none
	held  int     // pieces that exist

	full, free chan *[]byte  // to the goroutines and back; nil until the first piece is full
	ended      chan struct{} // all pieces are written
}

// NewPart makes an empty part file and reserves size bytes of the disk for it. The caller closes it.
func (c *Cache) NewPart(size int64) (*Part, error) {
	name := partName()
	f, err := c.create(name)
	if err != nil {
		return nil, err
	}
	reserve(f, size)
	return &Part{cache: c, name: name, disk: writer{file: f, direct: size >= directSize && setDirect(f, true)}, sum: sha256.New()}, nil
}

// Write appends bytes. A later Write or Close returns an error of the disk.
func (p *Part) Write(bytes []byte) (int, error) {
	for rest := bytes; len(rest) > 0; {
		if p.piece == nil {
			p.piece = p.next()
			if err := p.disk.failure(); err != nil {
				return 0, err
			}
		}
		n := min(len(rest), pieceSize-len(*p.piece))
		*p.piece = append(*p.piece, rest[:n]...)
		if rest = rest[n:]; len(*p.piece) == pieceSize {
			p.pass()
		}
	}
	return len(bytes), nil
}

// next returns an empty piece. While all are in use, it waits until one is written.
func (p *Part) next() *[]byte {
	if p.held == pieces {
		return <-p.free
	}
	p.held++
	piece, _ := buffers.Get().(*[]byte)
	return piece
}

// pass hands the full piece over to be hashed and written.
func (p *Part) pass() {
	if p.full == nil {
		hashed := make(chan *[]byte, pieces)
		p.full, p.free, p.ended = make(chan *[]byte, pieces), make(chan *[]byte, pieces), make(chan struct{})
		go p.hash(hashed)
		go p.write(hashed)
	}
	p.full <- p.piece
	p.piece = nil
}

func (p *Part) hash(hashed chan<- *[]byte) {
	defer close(hashed)
	for piece := range p.full {
		_, _ = p.sum.Write(*piece) // a hash never fails
		hashed <- piece
	}
}

func (p *Part) write(hashed <-chan *[]byte) {
	defer close(p.ended)
	for piece := range hashed {
		p.disk.write(*piece)
		*piece = (*piece)[:0]
		p.free <- piece
	}
}

// Close writes the rest and closes the file. After a nil error all bytes are in the file.
func (p *Part) Close() error {
	if p.full != nil {
		close(p.full)
		<-p.ended
	}
	if p.piece != nil {
		_, _ = p.sum.Write(*p.piece)
		p.disk.write(*p.piece)
		*p.piece = (*p.piece)[:0]
		buffers.Put(p.piece)
		p.piece, p.held = nil, p.held-1
	}
	for ; p.held > 0; p.held-- {
		buffers.Put(<-p.free)
	}
	return errors.Join(p.disk.failure(), p.disk.close())
}

// Body returns the closed part as a body.
func (p *Part) Body() Body { return Body{part: p.name, sum: hex.EncodeToString(p.sum.Sum(nil))} }

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
