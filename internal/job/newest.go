package job

import "sync"

// newestMost is how many records are kept in memory, of a few kilobytes each.
const newestMost = 1000

// newest keeps the active records that this process wrote last, so that a change needs no look at the stored record first. It only says from
// which version a change begins: the write still fails if another process wrote in between. The zero value is ready to use, and safe for
// concurrent use.
type newest struct {
	mu    sync.Mutex
	byRun map[string]Record
}

// keep remembers a record that was written, unless it knows a newer version. A record that is over is forgotten, and the key in it.
func (n *newest) keep(rec Record) {
	n.mu.Lock()
	defer n.mu.Unlock()
	known, ok := n.byRun[rec.Run]
	switch {
	case ok && known.Version > rec.Version:
		return
	case !rec.Active():
		delete(n.byRun, rec.Run)
		return
	case n.byRun == nil:
		n.byRun = map[string]Record{}
	case !ok && len(n.byRun) >= newestMost:
		for run := range n.byRun { // any one makes room: it is read from the disk the next time
			delete(n.byRun, run)
			break
		}
	}
	n.byRun[rec.Run] = rec
}

// newer returns the record of run if it is newer than version.
func (n *newest) newer(run string, version int64) (Record, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	rec, ok := n.byRun[run]
	return rec, ok && rec.Version > version
}
