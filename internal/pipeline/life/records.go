package life

import (
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
)

// recordCache keeps the records of jobs that wait from one look to the next, so that a look at a job to which nothing happens reads nothing from
// the disk. A record that others have changed is dropped as soon as that is known, and any record after recordAge.
type recordCache struct {
	mu   sync.Mutex
	runs map[string]*cachedRecord
}

// cachedRecord is a record and when it was read. It does not count while a worker is on the job, and after one that did not keep it again.
type cachedRecord struct {
	rec   job.Record
	at    time.Time
	taken bool
}

const (
	recordAge   = time.Minute
	restingMost = 1000 // records, of a few kilobytes each
)

func newRecordCache() *recordCache { return &recordCache{runs: map[string]*cachedRecord{}} }

// take returns the record that is kept for run, if it still counts. keep may be called for the job until drop is.
func (r *recordCache) take(run string) (job.Record, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.runs[run]
	if kept != nil && !kept.taken && time.Since(kept.at) < recordAge {
		kept.taken = true
		return kept.rec, true
	}
	if kept != nil || len(r.runs) < restingMost {
		r.runs[run] = &cachedRecord{taken: true}
	}
	return job.Record{}, false
}

// put keeps the record of a new job for its first look.
func (r *recordCache) put(rec job.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.runs[rec.Run]; !ok && len(r.runs) < restingMost {
		r.runs[rec.Run] = &cachedRecord{rec: rec, at: time.Now()}
	}
}

// keep keeps the record of a job that take was called for, unless it was dropped since.
func (r *recordCache) keep(rec job.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.runs[rec.Run]
	if kept == nil {
		return
	}
	if kept.rec.Version != rec.Version {
		kept.at = time.Now()
	}
	kept.rec, kept.taken = rec, false
}

// drop forgets the record of a job if rec is another version.
func (r *recordCache) drop(rec job.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if kept, ok := r.runs[rec.Run]; ok && kept.rec.Version != rec.Version {
		delete(r.runs, rec.Run)
	}
}

// forget drops what is kept of a job that is over.
func (r *recordCache) forget(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.runs, run)
}
