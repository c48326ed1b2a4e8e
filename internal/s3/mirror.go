package s3

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"
	"golang.org/x/sync/errgroup"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// File is one file of a set. Open returns exactly the bytes with the size and the sha256, or a reader that fails.
type File struct {
	Name   string                        `json:"name"`
	Size   int64                         `json:"size"`
	SHA256 string                        `json:"sha256"`
	Open   func() (io.ReadCloser, error) `json:"-"`
}

// Set is a number of files that belong together: the outputs of a run, or one snapshot of its checkpoints.
type Set struct {
	// Run is the name of the run, Name the path of the set below the folder of the run.
	Run, Name string
	Files     []File
	// Before is the name of an earlier set of the run. A file with the same bytes is copied from it inside the store.
	Before string
}

// manifest is <run>/<set>.json. It is written last: what has a manifest is complete.
type manifest struct {
	Run   string `json:"run"`
	Files []File `json:"files"`
}

// maxManifest bounds a manifest that is read, in bytes.
const maxManifest = 64 << 20

// sumHeader is the name of the metadata with our sha256. The entity tag of an object depends on the sizes of its parts.
const sumHeader = "Sha256"

// Check says whether the user may write to an address. It sends no request.
func (s *Store) Check(address string, who Requester) error {
	a, err := ParseAddress(address)
	if err != nil {
		return err
	}
	_, err = s.cfg.find(a, who, write)
	return err
}

// Upload copies a set to <address>/<run>/<set>. It can be repeated after a crash: what is there with the same sha256 stays, and a set
// with a manifest is not touched. An upload that was broken off leaves no parts behind.
func (s *Store) Upload(ctx context.Context, address string, who Requester, set Set) error {
	u, err := s.upload(address, who, set.Run)
	if err != nil {
		return err
	}
	if _, found, err := u.manifest(ctx, set.Name); err != nil || found {
		return err
	}
	earlier, err := u.earlier(ctx, set.Before)
	if err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(s.streams)
	for _, f := range set.Files {
		group.Go(func() error { return u.file(groupCtx, path.Join(set.Name, f.Name), f, earlier) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := u.abortParts(ctx, set.Name); err != nil {
		return err
	}
	return u.complete(ctx, set)
}

// Sets returns the names of the complete sets in a folder of a run.
func (s *Store) Sets(ctx context.Context, address string, who Requester, run, folder string) ([]string, error) {
	u, err := s.upload(address, who, run)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var names []string
	prefix := u.folder.key(folder) + "/"
	for info := range u.client.ListObjectsIter(ctx, u.folder.Bucket, minio.ListObjectsOptions{Prefix: prefix}) {
		if info.Err != nil {
			return nil, fault(ctx, info.Err, "list", u.folder)
		}
		if name, ok := strings.CutSuffix(strings.TrimPrefix(info.Key, prefix), ".json"); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// Remove removes a set, its manifest first. It is no error if there is none.
func (s *Store) Remove(ctx context.Context, address string, who Requester, run, name string) error {
	u, err := s.upload(address, who, run)
	if err != nil {
		return err
	}
	if err := u.client.RemoveObject(ctx, u.folder.Bucket, u.folder.key(name+".json"), minio.RemoveObjectOptions{}); err != nil {
		return fault(ctx, err, "remove from", u.folder)
	}
	options := minio.ListObjectsOptions{Prefix: u.folder.key(name) + "/", Recursive: true}
	for info := range u.client.ListObjectsIter(ctx, u.folder.Bucket, options) {
		if info.Err != nil {
			return fault(ctx, info.Err, "list", u.folder)
		}
		if err := u.client.RemoveObject(ctx, u.folder.Bucket, info.Key, minio.RemoveObjectOptions{}); err != nil {
			return fault(ctx, err, "remove from", u.folder)
		}
	}
	return nil
}

// upload is the way to the folder of one run.
type upload struct {
	client *minio.Core
	folder Address
}

func (s *Store) upload(address string, who Requester, run string) (*upload, error) {
	a, err := ParseAddress(address)
	if err != nil {
		return nil, err
	}
	place, err := s.cfg.find(a, who, write)
	if err != nil {
		return nil, err
	}
	client, err := s.client(place)
	return &upload{client: client, folder: Address{Bucket: a.Bucket, Prefix: a.key(run)}}, err
}

// file uploads one file, unless it is there.
func (u *upload) file(ctx context.Context, name string, f File, earlier map[string]string) error {
	key := u.folder.key(name)
	if err := checkKey(key); err != nil {
		return job.Permanent(fmt.Errorf("the file %q cannot be an object of %s: its name %w", f.Name, u.folder, err))
	}
	info, err := u.client.StatObject(ctx, u.folder.Bucket, key, minio.StatObjectOptions{})
	switch {
	case err == nil && info.Size == f.Size && info.UserMetadata[sumHeader] == f.SHA256:
		return nil
	case err != nil && minio.ToErrorResponse(err).Code != minio.NoSuchKey:
		return fault(ctx, err, "write to", u.folder)
	}
	if from, ok := earlier[f.SHA256]; ok {
		_, err := u.client.CopyObject(ctx, u.folder.Bucket, from, u.folder.Bucket, key, nil, minio.CopySrcOptions{}, minio.PutObjectOptions{})
		if err == nil {
			return nil
		}
	}
	body, err := f.Open()
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	read := &failure{r: body}
	_, err = u.client.Client.PutObject(ctx, u.folder.Bucket, key, read, f.Size, minio.PutObjectOptions{
		UserMetadata: map[string]string{sumHeader: f.SHA256}, ContentType: "application/octet-stream", Checksum: minio.ChecksumCRC64NVME,
	})
	if read.err != nil {
		return read.err
	}
	return fault(ctx, err, "write to", u.folder)
}

// failure remembers why the file could not be read, which a client words as a failure of the request.
type failure struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (f *failure) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
		if errors.Is(err, disk.ErrChanged) {
			f.err = job.Permanent(err)
		}
	}
	return n, err
}

// manifest reads the manifest of a set.
func (u *upload) manifest(ctx context.Context, name string) (m manifest, found bool, err error) {
	body, _, _, err := u.client.GetObject(ctx, u.folder.Bucket, u.folder.key(name+".json"), minio.GetObjectOptions{})
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return m, false, nil
	}
	if err != nil {
		return m, false, fault(ctx, err, "write to", u.folder)
	}
	defer func() { _ = body.Close() }()
	doc, err := io.ReadAll(io.LimitReader(body, maxManifest))
	if err != nil {
		return m, false, fault(ctx, err, "write to", u.folder)
	}
	if err := json.Unmarshal(doc, &m); err != nil {
		return m, false, job.Permanent(fmt.Errorf("%s has a file %s.json that is not of this service: name another folder", u.folder, name))
	}
	return m, true, nil
}

// earlier returns the keys of the files of an earlier set by their sha256.
func (u *upload) earlier(ctx context.Context, name string) (map[string]string, error) {
	if name == "" {
		return nil, nil
	}
	m, _, err := u.manifest(ctx, name)
	keys := make(map[string]string, len(m.Files))
	for _, f := range m.Files {
		keys[f.SHA256] = u.folder.key(path.Join(name, f.Name))
	}
	return keys, err
}

// abortParts removes the parts of uploads that an earlier process broke off.
func (u *upload) abortParts(ctx context.Context, name string) error {
	for info := range u.client.ListIncompleteUploads(ctx, u.folder.Bucket, u.folder.key(name)+"/", true) {
		if info.Err != nil {
			return nil //nolint:nilerr // not every store lists them, and they do no harm to the set
		}
		if err := u.client.RemoveIncompleteUpload(ctx, u.folder.Bucket, info.Key); err != nil {
			return fault(ctx, err, "write to", u.folder)
		}
	}
	return nil
}

// complete writes the manifest, unless another process was faster.
func (u *upload) complete(ctx context.Context, set Set) error {
	doc, err := json.MarshalIndent(manifest{Run: set.Run, Files: set.Files}, "", "  ")
	if err != nil {
		return err
	}
	options := minio.PutObjectOptions{ContentType: "application/json", DisableMultipart: true}
	options.SetMatchETagExcept("*")
	_, err = u.client.Client.PutObject(ctx, u.folder.Bucket, u.folder.key(set.Name+".json"), bytes.NewReader(doc), int64(len(doc)), options)
	if minio.ToErrorResponse(err).Code == "PreconditionFailed" {
		return nil
	}
	return fault(ctx, err, "write to", u.folder)
}
