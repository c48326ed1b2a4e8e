package s3

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Address names a bucket and a folder in it.
type Address struct {
	Bucket string
	// Prefix has no slash at its ends; empty is the whole bucket.
	Prefix string
}

var bucketForm = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// maxKey is the longest key of an object in S3, in bytes.
const maxKey = 1024

// ParseAddress reads s3://bucket/folder. A slash at the end makes no difference. The error is permanent and for the user.
func ParseAddress(address string) (Address, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(address), "s3://")
	bucket, prefix, _ := strings.Cut(rest, "/")
	if !ok || !bucketForm.MatchString(bucket) {
		return Address{}, job.Permanent(fmt.Errorf("%q is no address of an object store: write s3://bucket/folder", text.Excerpt(address, 80)))
	}
	prefix = strings.Trim(prefix, "/")
	if err := checkKey(prefix); prefix != "" && err != nil {
		return Address{}, job.Permanent(fmt.Errorf("the folder in %q %w: write s3://bucket/folder", text.Excerpt(address, 80), err))
	}
	return Address{Bucket: bucket, Prefix: prefix}, nil
}

// String returns the address as users write it.
func (a Address) String() string { return "s3://" + path.Join(a.Bucket, a.Prefix) }

// key returns the key of an object in the folder.
func (a Address) key(name string) string { return path.Join(a.Prefix, name) }

// below returns the name of an object in the folder of the address.
func (a Address) below(key string) (string, bool) {
	if a.Prefix == "" {
		return key, key != ""
	}
	name, ok := strings.CutPrefix(key, a.Prefix+"/")
	return name, ok && name != ""
}

// checkKey refuses keys that are no path: an object store accepts any text.
func checkKey(key string) error {
	switch {
	case len(key) > maxKey:
		return errors.New("is too long")
	case !utf8.ValidString(key), strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }):
		return errors.New("has characters that a file name cannot have")
	}
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part == "." || part == ".." {
			return errors.New("has an empty part, or a part of dots only")
		}
	}
	return nil
}
