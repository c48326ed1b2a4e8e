package s3

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// object is one object to read. name is its path in the folder of the address.
type object struct {
	key, name, etag string
	size            int64
}

// list returns the objects of a folder, or the one object that the address names, sorted by name. What looks like a folder is left out.
func (s *Store) list(ctx context.Context, client *minio.Core, a Address) ([]object, error) {
	if a.Prefix != "" {
		if info, err := client.StatObject(ctx, a.Bucket, a.Prefix, minio.StatObjectOptions{}); err == nil {
			return []object{{key: a.Prefix, name: path.Base(a.Prefix), etag: info.ETag, size: info.Size}}, s.fits(a, 1, info.Size)
		}
	}
	prefix := a.Prefix
	if prefix != "" {
		prefix += "/"
	}
	ctx, stop := context.WithCancel(ctx) // ends the listing when it is left early
	defer stop()
	var found []object
	var total int64
	for info := range client.ListObjectsIter(ctx, a.Bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if info.Err != nil {
			return nil, fault(ctx, info.Err, "list", a)
		}
		name, ok := a.below(info.Key)
		if !ok || strings.HasSuffix(name, "/") && info.Size == 0 {
			continue
		}
		if err := checkKey(name); err != nil {
			return nil, job.Permanent(fmt.Errorf("the name of the object %q in %s %w: rename it", text.Excerpt(name, 80), a, err))
		}
		found = append(found, object{key: info.Key, name: name, etag: info.ETag, size: info.Size})
		total += info.Size
		if err := s.fits(a, len(found), total); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if len(found) == 0 {
		return nil, job.Permanent(fmt.Errorf("%s has no objects: check the name of the folder", a))
	}
	slices.SortFunc(found, func(x, y object) int { return strings.Compare(x.name, y.name) })
	return found, checkNames(a, found)
}

// fits refuses what is more than is allowed.
func (s *Store) fits(a Address, objects int, bytes int64) error {
	if objects <= s.limits.Objects && bytes <= s.limits.Bytes {
		return nil
	}
	return job.Permanent(fmt.Errorf("%s holds more than is allowed, which is %s or %s: name a smaller folder",
		a, text.Count(s.limits.Objects, "object"), text.Bytes(s.limits.Bytes)))
}

// checkNames refuses names that no file system can hold together: an object may have the name of a folder.
func checkNames(a Address, found []object) error {
	files := make(map[string]bool, len(found))
	for _, o := range found {
		files[o.name] = true
	}
	for _, o := range found {
		for dir := path.Dir(o.name); dir != "."; dir = path.Dir(dir) {
			if files[dir] {
				return job.Permanent(fmt.Errorf("in %s, %q is both an object and a folder: rename one", a, text.Excerpt(dir, 80)))
			}
		}
	}
	return nil
}
