package s3

import (
	"context"
	"fmt"
	"path"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ncsa/clowder-ray/internal/cache"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Request asks for the objects of an address.
type Request struct {
	Address string
	Who     Requester
	// Dir is the folder of the inputs of the run. The files get the paths Place/<name> in it and the names Name/<name>.
	Dir         disk.Folder
	Place, Name string
}

// Stage puts the objects of a folder into a folder of the run, several at a time, through the cache: an object that did not change
// since an earlier run is linked. A second call after a crash continues. After a nil error every file is on disk with its sha256. say
// takes one sentence for the user.
func (s *Store) Stage(ctx context.Context, r Request, say func(string)) ([]job.Input, error) {
	a, err := ParseAddress(r.Address)
	if err != nil {
		return nil, err
	}
	place, err := s.cfg.find(a, r.Who, read)
	if err != nil {
		return nil, err
	}
	client, err := s.client(place)
	if err != nil {
		return nil, err
	}
	objects, err := s.list(ctx, client, a)
	if err != nil {
		return nil, err
	}
	if err := s.checkSpace(place, a, objects); err != nil {
		return nil, err
	}
	var total int64
	for _, o := range objects {
		total += o.size
	}
	say(fmt.Sprintf("Reading %s (%s) from %s", text.Count(len(objects), "object"), text.Bytes(total), a))
	target, err := s.cache.Target(r.Dir)
	if err != nil {
		return nil, diskFault(err)
	}
	defer target.Close()
	st := &staging{store: s, request: r, place: place, address: a, target: target, inputs: make([]job.Input, len(objects))}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(s.streams)
	for i, o := range objects {
		group.Go(func() error {
			input, err := st.one(groupCtx, o)
			st.inputs[i] = input
			return err
		})
	}
	if err := group.Wait(); err != nil {
		_ = s.cache.Commit(st.entries, nil) // what was downloaded before the error is kept for the next attempt
		return nil, err
	}
	if err := s.cache.Commit(st.entries, target); err != nil {
		return nil, diskFault(err)
	}
	return st.inputs, nil
}

// staging is one call of Stage.
type staging struct {
	store   *Store
	request Request
	place   Place
	address Address
	target  *cache.Target
	inputs  []job.Input

	mu      sync.Mutex
	entries []cache.Entry
}

// one puts one object into the folder of the run.
func (st *staging) one(ctx context.Context, o object) (job.Input, error) {
	if err := ctx.Err(); err != nil {
		return job.Input{}, context.Cause(ctx)
	}
	key := cacheKey(st.place, st.address, o)
	entry, cached := st.store.cache.Take(key, o.size)
	if !cached {
		client, err := st.store.client(st.place)
		if err != nil {
			return job.Input{}, err
		}
		body, err := st.store.fetch(ctx, client, st.address, o)
		if err != nil {
			return job.Input{}, err
		}
		if entry, err = st.store.cache.Put(body, key, o.size); err != nil {
			return job.Input{}, diskFault(err)
		}
	}
	st.mu.Lock()
	st.entries = append(st.entries, entry)
	st.mu.Unlock()
	local := path.Join(st.request.Place, o.name)
	err := st.target.Place(entry.SHA256, local)
	st.store.cache.Release(entry.SHA256)
	source := Address{Bucket: st.address.Bucket, Prefix: o.key}.String()
	return job.Input{Name: path.Join(st.request.Name, o.name), Path: local, Size: o.size, SHA256: entry.SHA256, Source: source}, diskFault(err)
}

// checkSpace refuses objects that do not fit on the disk, before the first download.
func (s *Store) checkSpace(place Place, a Address, objects []object) error {
	var missing int64
	for _, o := range objects {
		if !s.cache.Holds(cacheKey(place, a, o), o.size) {
			missing += o.size
		}
	}
	if free, known := s.cache.Free(); known && missing > free {
		return job.Permanent(fmt.Errorf("the disk of the training service is too full: %s needs %s and %s is free. Ask its administrator to free space, then submit again",
			a, text.Bytes(missing), text.Bytes(free)))
	}
	return nil
}

// cacheKey names the content of an object. An entity tag changes with every write.
func cacheKey(place Place, a Address, o object) string {
	return cache.Key(place.Endpoint+"/"+a.Bucket, o.key+"/"+o.etag, 0, o.size)
}

// diskFault says that the disk of the service failed.
func diskFault(err error) error {
	if err == nil {
		return nil
	}
	return job.Retryable(fmt.Errorf("the disk of the training service failed: %w", err))
}
