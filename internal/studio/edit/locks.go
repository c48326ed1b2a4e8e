package edit

import (
	"context"
	"sync"
)

// locks lets one save of a file run at a time. The zero value is ready.
type locks struct {
	mu    sync.Mutex
	files map[string]*lock
}

type lock struct {
	turn  chan struct{}
	users int
}

// take waits for the lock of a file. The caller calls the returned function to give it back.
func (l *locks) take(ctx context.Context, file string) (func(), error) {
	l.mu.Lock()
	if l.files == nil {
		l.files = make(map[string]*lock)
	}
	mine := l.files[file]
	if mine == nil {
		mine = &lock{turn: make(chan struct{}, 1)}
		l.files[file] = mine
	}
	mine.users++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if mine.users--; mine.users == 0 {
			delete(l.files, file)
		}
	}
	select {
	case mine.turn <- struct{}{}:
		return func() {
			<-mine.turn
			leave()
		}, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}
