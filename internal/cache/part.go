package cache

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
)

const (
	// pieceSize is how many bytes of a part file are written at once, and pieces how many such pieces a part has in memory at most.
	pieceSize = 1 << 20
	pieces    = 3
	// directSize is the size from which a part goes around the page cache. The kernel copies no bytes then, and the sync at the end finds
	// nothing to do.
	directSize = 32 << 20
	// writeAhead is the number of bytes after which the kernel is asked to start writing other part files to disk.
	writeAhead = 32 << 20
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

// Part is a body that is being downloaded into a file of the cache. It collects what it gets in pieces, and writes a piece while it gets the
// next one. It is not safe for concurrent use.
type Part struct {
	cache *Cache
	name  string
	piece *[]byte       // not full; nil: none
	held  int           // pieces that exist
	full  chan *[]byte  // to the goroutine that writes; nil until a piece is full
	free  chan *[]byte  // from it
	ended chan struct{} // it has written all pieces
	disk  writer
}

// NewPart makes an empty part file and reserves size bytes of the disk for it. The caller closes it.
func (c *Cache) NewPart(size int64) (*Part, error) {
	name := partName()
	f, err := c.create(name)
	if err != nil {
		return nil, err
	}
	reserve(f, size)
	return &Part{cache: c, name: name, disk: writer{file: f, direct: size >= directSize && setDirect(f, true)}}, nil
}

// Write appends bytes. A later Write or Close may return the error of an earlier one.
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

// next returns an empty piece. If there are too many, it waits until one is written.
func (p *Part) next() *[]byte {
	if p.held == pieces {
		return <-p.free
	}
	p.held++
	piece, _ := buffers.Get().(*[]byte)
	return piece
}

// pass lets the full piece be written.
func (p *Part) pass() {
	if p.full == nil {
		p.full, p.free, p.ended = make(chan *[]byte, pieces), make(chan *[]byte, pieces), make(chan struct{})
		go func() {
			defer close(p.ended)
			for piece := range p.full {
				p.disk.write(*piece)
				*piece = (*piece)[:0]
				p.free <- piece
			}
		}()
	}
	p.full <- p.piece
	p.piece = nil
}

// Close writes the rest and closes the file.
func (p *Part) Close() error {
	if p.full != nil {
		close(p.full)
		<-p.ended
	}
	if p.piece != nil {
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
