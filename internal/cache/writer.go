package cache

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

const (
	// directSize is the size from which a file goes around the page cache. The kernel copies no bytes then, and the sync at the end finds
	// nothing to do.
	directSize = 32 << 20
	// writeAhead is the number of bytes after which the kernel is asked to start writing another file to disk.
	writeAhead = 32 << 20
)

// writer appends pieces to a file. Only one goroutine writes; others may ask for a failure.
type writer struct {
	file           *os.File
	direct         bool // around the page cache
	written, asked int64
	asking         atomic.Bool // the kernel is being asked; that takes long while the disk has much to do
	asks           sync.WaitGroup
	failed         atomic.Pointer[error]
}

// write appends a piece. After a failure it does nothing.
func (w *writer) write(piece []byte) {
	if w.failure() != nil {
		return
	}
	if w.direct && len(piece) < pieceSize { // the end of a file, which may fill no block of the disk
		w.direct = !setDirect(w.file, false)
	}
	n, err := w.file.Write(piece)
	if w.direct && errors.Is(err, syscall.EINVAL) && setDirect(w.file, false) { // the disk has larger blocks than a page
		w.direct = false
		_, err = w.file.Write(piece[n:])
	}
	if err != nil {
		w.failed.Store(&err)
		return
	}
	if w.written += int64(len(piece)); !w.direct {
		w.writeAhead()
	}
}

// writeAhead asks the kernel now and then to start writing to disk. It does not wait for that.
func (w *writer) writeAhead() {
	if w.written-w.asked < writeAhead || !w.asking.CompareAndSwap(false, true) {
		return
	}
	from, to := w.asked, w.written
	w.asked = to
	w.asks.Go(func() {
		startWriting(w.file, from, to-from)
		w.asking.Store(false)
	})
}

// failure is the error that ended the writing, or nil.
func (w *writer) failure() error {
	if err := w.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// close closes the file.
func (w *writer) close() error {
	w.asks.Wait()
	return w.file.Close()
}
