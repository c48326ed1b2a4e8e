package basemodel

import (
	"context"
	"os"
	"time"

	"github.com/ncsa/clowder-ray/internal/disk"
)

// lockEvery is the time between two looks at a lock that another process has.
const lockEvery = 200 * time.Millisecond

// lock waits until no other process installs or removes the model, and keeps the others out until release is called or this process
// ends. waiting is called once if it must wait; it may be nil.
func lock(ctx context.Context, root *os.Root, id string, waiting func()) (release func(), err error) {
	if err := root.MkdirAll(partFolder, 0o755); err != nil {
		return nil, diskError("lock the model", err)
	}
	f, err := root.OpenFile(partFolder+"/"+flat(id)+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, diskError("lock the model", err)
	}
	for said := false; ; said = true {
		locked, err := disk.TryLock(f)
		if err != nil {
			_ = f.Close()
			return nil, diskError("lock the model", err)
		}
		if locked {
			return func() { _ = f.Close() }, nil
		}
		if !said && waiting != nil {
			waiting()
		}
		timer := time.NewTimer(lockEvery)
		select {
		case <-ctx.Done():
			timer.Stop()
			_ = f.Close()
			return nil, ctx.Err()
		case <-timer.C:
		}
	}
}
