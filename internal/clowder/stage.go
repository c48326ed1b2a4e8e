package clowder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ncsa/clowder-ray/internal/cache"
	"github.com/ncsa/clowder-ray/internal/clowder/localname"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Progress is the progress of a staging.
type Progress struct {
	Bytes, TotalBytes int64
	Files, TotalFiles int
}

const (
	// progressEvery is the shortest time between two calls of a progress function.
	progressEvery = 200 * time.Millisecond
	// commitEvery and commitEveryBytes are how many files and bytes are made durable together, and so how much work a power cut may
	// cost. One sync of a file system that other programs write to takes tenths of a second. It blocks only one worker.
	commitEvery      = 8 << 10
	commitEveryBytes = 4 << 30
)

// Stage puts the files into dir, several in parallel, and returns the path of each file, in the order of files.
//
// Files that are not in the cache are downloaded into it. dir gets hard links, or copies if the file system has no links. The memory
// does not depend on the sizes. A second call after a crash continues with the files that are missing. After a nil error each file is
// on disk under its path in dir and has the size that Clowder lists. The name of a new dir is on disk once the caller has synced its parent. SHA256 is computed from the received bytes.
//
// dir is made if it is missing. Links and other objects in the place of a file or a folder are replaced, so nothing in dir leads out
// of it.
//
// progress may be nil. It is called from several goroutines, one at a time, and at the end. A missing permission and a full disk are
// permanent errors. If files were deleted since they were listed, or their licence forbids the download, the others are staged and returned, and the error is a *GoneError.
func (s *Session) Stage(ctx context.Context, files []File, dir disk.Folder, progress func(Progress)) ([]job.Input, error) {
	if err := cmp.Or(s.c.checkCount(files), s.c.checkBytes(files)); err != nil {
		return nil, err
	}
	target, err := s.c.target(dir)
	if err != nil {
		return nil, err
	}
	defer target.Close()
	st, err := s.staging(files, target)
	if err != nil {
		return nil, err
	}
	st.report = progress
	if err := st.all(ctx); err != nil {
		_ = st.commit(nil) // files that were downloaded before the error are kept for the next attempt
		return nil, err
	}
	if err := st.commit(target); err != nil {
		return nil, err
	}
	st.reportProgress(true)
	return st.present()
}

// target opens the folder that a staging fills.
func (c *Client) target(dir disk.Folder) (*cache.Target, error) {
	if c.cache == nil {
		return nil, errors.New("stage the dataset: no cache folder is configured")
	}
	target, err := c.cache.Target(dir)
	if err != nil {
		return nil, diskError("make the folder of the inputs", err)
	}
	return target, nil
}

// staging is one call of Stage or StagePart.
type staging struct {
	s      *Session
	cache  *cache.Cache
	target *cache.Target
	files  []File
	paths  []string
	inputs []job.Input
	total  int64
	report func(Progress)
	// streams holds one token for each running download.
	streams chan struct{}

	mu           sync.Mutex    // guards the fields below; the cache has its own lock, which is taken inside
	entries      []cache.Entry // of files that were placed since the last commit
	downloaded   int           // files that were downloaded since the last commit
	pending      int64         // their bytes
	bytes        int64
	done         int
	gone         map[int]error // by the index of a file that Clowder no longer has or may not give away
	lastReported time.Time
}

// staging prepares the staging of files into target. Files that do not fit on the disk are refused.
func (s *Session) staging(files []File, target *cache.Target) (*staging, error) {
	st := &staging{s: s, cache: s.c.cache, target: target, files: slices.Clone(files), paths: localPaths(files), inputs: make([]job.Input, len(files)), gone: map[int]error{}}
	for _, f := range files {
		st.total += f.Size
	}
	return st, st.checkSpace()
}

// localPaths returns where each file lies in the folder of a staging.
func localPaths(files []File) []string {
	listed := make([]localname.File, len(files))
	for i, f := range files {
		listed[i] = localname.File{Path: f.Path, ID: f.ID}
	}
	return localname.Paths(listed)
}

// all stages all files, several in parallel.
func (st *staging) all(ctx context.Context) error {
	group, groupCtx := errgroup.WithContext(ctx)
	// Twice as many workers as streams: one half links files while the other half keeps all streams busy.
	st.streams = make(chan struct{}, st.s.c.cfg.Streams)
	group.SetLimit(2 * st.s.c.cfg.Streams)
	for i := range st.files {
		if groupCtx.Err() != nil {
			break
		}
		group.Go(func() error { return st.one(groupCtx, i) })
	}
	if err := group.Wait(); err != nil || ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("stage the dataset: %w", context.Cause(ctx))
}

// checkSpace refuses a dataset that does not fit on the disk, before the first download.
func (st *staging) checkSpace() error {
	free, known := st.cache.Free()
	var missing int64
	for i := range st.files {
		st.files[i].changed = st.s.c.changed(st.files[i])
		if f := st.files[i]; f.unknown() || !st.cache.Holds(st.key(f), f.Size) {
			missing += st.files[i].Size
		}
	}
	if known && missing > free {
		return job.Permanent(fmt.Errorf("the disk of the training service is too full: the dataset needs %s and %s is free. Ask its administrator to free space, then submit again",
			text.Bytes(missing), text.Bytes(free)))
	}
	return nil
}

// key is by which the cache knows a body. One that others can overwrite in its place has the time of its last change in it.
func (st *staging) key(f File) string {
	key := cache.Key(st.s.base.String(), f.ID, f.Version, f.Size)
	if f.changed != 0 {
		key += fmt.Sprintf("@%d", f.changed)
	}
	return key
}

// one stages the file with index i.
func (st *staging) one(ctx context.Context, i int) error {
	f := st.files[i]
	var line cache.Entry
	cached := false
	if !f.unknown() {
		line, cached = st.cache.Take(st.key(f), f.Size)
	}
	if cached {
		st.add(f.Size)
	} else {
		var err error
		if line, err = st.download(ctx, f); isGone(err) || IsBarred(err) {
			st.mu.Lock()
			defer st.mu.Unlock()
			st.gone[i] = err
			return nil
		} else if err != nil {
			return err
		}
	}
	err := st.target.Place(line.SHA256, st.paths[i])
	st.cache.Release(line.SHA256)
	if err != nil {
		return diskError("put "+f.Path+" into the inputs", err)
	}
	st.inputs[i] = job.Input{ID: f.ID, Name: f.Path, Path: st.paths[i], Size: f.Size, SHA256: line.SHA256, ContentType: f.ContentType, Version: f.Version}
	if st.placed(line) {
		err = st.commit(nil)
	}
	st.reportProgress(false)
	return err
}

// placed counts a file that is in its place, and reports whether enough files were downloaded to make them durable.
func (st *staging) placed(line cache.Entry) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.done++
	st.entries = append(st.entries, line)
	return st.downloaded >= commitEvery || st.pending >= commitEveryBytes
}

// download puts a file into the cache.
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
	st.downloaded++
	st.pending += f.Size
	return line, nil
}

// commit makes the files durable that were placed since the last commit, and the names in the folders of target, nil for none.
func (st *staging) commit(target *cache.Target) error {
	st.mu.Lock()
	entries := st.entries
	st.entries, st.downloaded, st.pending = nil, 0, 0
	st.mu.Unlock()
	return diskError("store the dataset", st.s.c.commit(st.cache, entries, target))
}

// add counts bytes. A download that starts again subtracts its bytes first.
func (st *staging) add(n int64) {
	st.mu.Lock()
	st.bytes += n
	st.mu.Unlock()
	st.reportProgress(false)
}

// reportProgress calls report, at most once per progressEvery unless it is the last call.
func (st *staging) reportProgress(last bool) {
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
