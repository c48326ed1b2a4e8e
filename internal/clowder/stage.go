package clowder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ncsa/clowder-ray/internal/clowder/cache"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Progress is how far a staging is.
type Progress struct {
	Bytes, TotalBytes int64
	Files, TotalFiles int
}

const (
	// progressEvery is the least time between two calls of a progress function.
	progressEvery = 200 * time.Millisecond
	// commitEvery is how much work a power cut may cost, in files and in bytes: so many are made durable together, because
	// one sync of a file system takes tenths of a second where others write too. It keeps only one worker from its work.
	commitEvery      = 2 << 10
	commitEveryBytes = 4 << 30
)

// Stage puts the files into dir, several at a time, and returns what lies where, in the order of files.
//
// Bodies come from the cache where it has them, else from Clowder into it; dir gets hard links, or copies where the file
// system has none. Memory stays flat whatever the size. A second call after a crash goes on where the first one stopped,
// file by file. After a nil return every body is on disk under its path in dir and as long as Clowder says; the sha256 is of
// what was received.
//
// dir is made where it is missing. Nothing that lies in it leads out of it: what is in the place of a file or a folder and is
// something else, a link among it, is replaced.
//
// progress may be nil; it is called from several goroutines, one at a time, and at the end. A file that vanished, a
// missing right and a full disk are permanent errors.
func (s *Session) Stage(ctx context.Context, files []File, dir disk.Folder, progress func(Progress)) ([]job.Input, error) {
	if s.c.cache == nil {
		return nil, errors.New("stage the dataset: no cache folder is configured")
	}
	if err := cmp.Or(s.c.checkCount(files), s.c.checkBytes(files)); err != nil {
		return nil, err
	}
	target, err := s.c.cache.Target(dir)
	if err != nil {
		return nil, diskError("make the folder of the inputs", err)
	}
	defer target.Close()
	st := &staging{s: s, cache: s.c.cache, target: target, files: files, paths: localPaths(files), inputs: make([]job.Input, len(files)), report: progress}
	for _, f := range files {
		st.total += f.Size
	}
	if err := st.checkSpace(); err != nil {
		return nil, err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	// Twice as many workers as streams: while one half puts files in place the other half keeps all streams busy.
	st.streams = make(chan struct{}, s.c.cfg.Streams)
	group.SetLimit(2 * s.c.cfg.Streams)
	for i := range files {
		if groupCtx.Err() != nil {
			break
		}
		group.Go(func() error { return st.one(groupCtx, i) })
	}
	err = group.Wait()
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("stage the dataset: %w", context.Cause(ctx))
	}
	// What was downloaded before an error is worth keeping for the next attempt.
	if flushed := st.flush(true); err == nil {
		err = flushed
	}
	if err == nil {
		err = diskError("store the dataset", s.c.syncTarget(target))
	}
	if err != nil {
		return nil, err
	}
	st.tell(true)
	return st.inputs, nil
}

// staging is one call of Stage.
type staging struct {
	s      *Session
	cache  *cache.Cache
	target *cache.Target
	files  []File
	paths  []string
	inputs []job.Input
	total  int64
	report func(Progress)
	// streams holds one token for each download that runs.
	streams chan struct{}

	mu           sync.Mutex    // guards what follows; the cache has its own lock, taken inside
	lines        []cache.Entry // of what was downloaded
	reused       []cache.Entry // of what was there
	pending      int64
	bytes        int64
	done         int
	lastReported time.Time
}

// checkSpace refuses before the first byte what cannot fit.
func (st *staging) checkSpace() error {
	free, known := st.cache.Free()
	var missing int64
	for _, f := range st.files {
		if !st.cache.Holds(st.key(f), f.Size) {
			missing += f.Size
		}
	}
	if known && missing > free {
		return job.Permanent(fmt.Errorf("the disk of the training service is too full: the dataset needs %s and %s are free; ask its administrator to free space, then submit again",
			text.Bytes(missing), text.Bytes(free)))
	}
	return nil
}

func (st *staging) key(f File) string { return cache.Key(st.s.base.String(), f.ID, f.Version, f.Size) }

// one brings the file with index i to its place.
func (st *staging) one(ctx context.Context, i int) error {
	f := st.files[i]
	line, cached := st.cache.Take(st.key(f), f.Size)
	if cached {
		st.reuse(f, line)
	} else {
		var err error
		if line, err = st.download(ctx, f); err != nil {
			return err
		}
	}
	err := st.target.Place(line.SHA256, st.paths[i])
	st.cache.Release(line.SHA256)
	if err != nil {
		return diskError("put "+f.Path+" into the inputs", err)
	}
	st.inputs[i] = job.Input{ID: f.ID, Name: f.Path, Path: st.paths[i], Size: f.Size, SHA256: line.SHA256, ContentType: f.ContentType}
	st.mu.Lock()
	st.done++
	st.mu.Unlock()
	st.tell(false)
	return st.flush(false)
}

// reuse counts a body that need not be downloaded.
func (st *staging) reuse(f File, line cache.Entry) {
	st.add(f.Size)
	st.mu.Lock()
	defer st.mu.Unlock()
	st.reused = append(st.reused, line)
}

// download brings a body into the cache.
func (st *staging) download(ctx context.Context, f File) (cache.Entry, error) {
	select {
	case st.streams <- struct{}{}:
	case <-ctx.Done():
		return cache.Entry{}, context.Cause(ctx)
	}
	got, err := st.s.fetch(ctx, f, st.add)
	<-st.streams
	if err != nil {
		return cache.Entry{}, err
	}
	line, err := st.cache.Put(got, st.key(f), f.Size)
	if err != nil {
		return cache.Entry{}, diskError("keep "+f.Path, err)
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.lines = append(st.lines, line)
	st.pending += f.Size
	return line, nil
}

// flush makes what was downloaded since the last time durable, where it is enough or all of it.
func (st *staging) flush(all bool) error {
	st.mu.Lock()
	if !all && len(st.lines) < commitEvery && st.pending < commitEveryBytes {
		st.mu.Unlock()
		return nil
	}
	lines, reused := st.lines, st.reused
	st.lines, st.reused, st.pending = nil, nil, 0
	st.mu.Unlock()
	if err := errors.Join(st.cache.Commit(lines), st.cache.NoteUses(reused)); err != nil {
		return diskError("store the dataset", err)
	}
	return nil
}

// add counts bytes; a download that begins anew takes its bytes back with a negative number.
func (st *staging) add(n int64) {
	st.mu.Lock()
	st.bytes += n
	st.mu.Unlock()
	st.tell(false)
}

// tell reports the progress, not too often unless it is the last time.
func (st *staging) tell(last bool) {
	if st.report == nil {
		return
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if now := time.Now(); last || now.Sub(st.lastReported) >= progressEvery {
		st.lastReported = now
		st.report(Progress{Bytes: st.bytes, TotalBytes: st.total, Files: st.done, TotalFiles: len(st.files)})
	}
}
