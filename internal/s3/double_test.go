package s3

import (
	"bufio"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/ncsa/clowder-ray/internal/cache"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// double is an object store in memory with one bucket, data. Its listings have pages of two objects.
type double struct {
	*Store
	folder string

	mu      sync.Mutex
	objects map[string]stored
	seen    []string // the requests so far
	// spoil answers instead of the double, if it returns true.
	spoil func(http.ResponseWriter, *http.Request) bool
}

// stored is one object.
type stored struct{ body, sum string }

func (o stored) etag() string {
	sum := md5.Sum([]byte(o.body))
	return hex.EncodeToString(sum[:])
}

// newDouble returns a store over a double that holds the objects. Up to 5 objects of 1,000 bytes together may be read.
func newDouble(t *testing.T, objects map[string]string) *double {
	t.Helper()
	d := &double{folder: t.TempDir(), objects: map[string]stored{}}
	for key, body := range objects {
		d.objects[key] = stored{body: body}
	}
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	log := zaptest.NewLogger(t)
	bodies, err := cache.Open(disk.Folder{Volume: d.folder, Name: "cache"}, log)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, bodies.Close()) })
	place := Place{Bucket: "data", Endpoint: server.URL, Region: "us-east-1", Private: true, Access: readWrite}
	other := place
	other.Bucket = "missing"
	d.Store = New(Config{Places: []Place{place, other}}, Limits{Objects: 5, Bytes: 1000}, bodies, log)
	d.streams, d.pause = 1, time.Microsecond
	return d
}

// spoils sets what answers instead of the double, and returns the requests before.
func (d *double) spoils(spoil func(http.ResponseWriter, *http.Request) bool) (seen []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen, d.seen, d.spoil = d.seen, nil, spoil
	return seen
}

// bodies are the objects that the double holds.
func (d *double) bodies() map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := map[string]string{}
	for key, o := range d.objects {
		found[key] = o.body
	}
	return found
}

// put replaces an object.
func (d *double) put(key, body string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.objects[key] = stored{body: body}
}

// stage reads an address into the folder of a run.
func (d *double) stage(t *testing.T, address string) (inputs []job.Input, said []string, err error) {
	t.Helper()
	r := Request{Address: address, Dir: disk.Folder{Volume: d.folder, Name: "inputs"}, Place: "objects", Name: "table"}
	inputs, err = d.Stage(t.Context(), r, func(sentence string) { said = append(said, sentence) })
	return inputs, said, err
}

// ServeHTTP implements http.Handler.
func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	d.seen = append(d.seen, r.Method+" "+r.URL.Path)
	spoil := d.spoil
	d.mu.Unlock()
	if spoil == nil || !spoil(w, r) {
		d.answer(w, r)
	}
}

func (d *double) answer(w http.ResponseWriter, r *http.Request) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	d.mu.Lock()
	defer d.mu.Unlock()
	o, there := d.objects[key]
	switch {
	case bucket != "data":
		refuse(w, http.StatusNotFound, "NoSuchBucket")
	case r.Method == http.MethodGet && r.URL.Query().Has("list-type"):
		d.list(w, r)
	case r.Method == http.MethodGet && r.URL.Query().Has("uploads"):
		refuse(w, http.StatusNotImplemented, "NotImplemented")
	case r.Method == http.MethodPut:
		d.write(w, r, key)
	case r.Method == http.MethodDelete:
		delete(d.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case !there:
		refuse(w, http.StatusNotFound, "NoSuchKey")
	default:
		o.serve(w, r)
	}
}

// refuse answers with a code of S3.
func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "<Error><Code>"+code+"</Code><Message>so it is</Message></Error>")
}

// refuses answers the requests that have the method, and whose path has the suffix, with a code of S3.
func refuses(method, suffix string, status int, code string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != method || !strings.HasSuffix(r.URL.Path, suffix) {
			return false
		}
		refuse(w, status, code)
		return true
	}
}

func (o stored) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", `"`+o.etag()+`"`)
	if o.sum != "" {
		w.Header().Set("X-Amz-Meta-"+sumHeader, o.sum)
	}
	if r.Header.Get("X-Amz-Checksum-Mode") != "" {
		check := minio.ChecksumCRC64NVME.Hasher()
		_, _ = io.WriteString(check, o.body)
		w.Header().Set("X-Amz-Checksum-Crc64nvme", base64.StdEncoding.EncodeToString(check.Sum(nil)))
		w.Header().Set("X-Amz-Checksum-Type", fullObject)
	}
	http.ServeContent(w, r, "", time.Unix(1_700_000_000, 0), strings.NewReader(o.body))
}

// write stores an object that is sent, or a copy of another one.
func (d *double) write(w http.ResponseWriter, r *http.Request, key string) {
	if _, there := d.objects[key]; there && r.Header.Get("If-None-Match") == "*" {
		refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}
	if from := r.Header.Get("X-Amz-Copy-Source"); from != "" {
		source, there := d.objects[strings.TrimPrefix(strings.TrimPrefix(from, "/"), "data/")]
		if !there {
			refuse(w, http.StatusNotFound, "NoSuchKey")
			return
		}
		d.objects[key] = source
		_, _ = io.WriteString(w, "<CopyObjectResult><ETag>"+source.etag()+"</ETag></CopyObjectResult>")
		return
	}
	body, err := sent(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, "IncompleteBody")
		return
	}
	o := stored{body: body, sum: r.Header.Get("X-Amz-Meta-" + sumHeader)}
	d.objects[key] = o
	w.Header().Set("ETag", `"`+o.etag()+`"`)
}

// sent returns the body of a request, which may be in chunks that begin with their length.
func sent(r *http.Request) (string, error) {
	if r.Header.Get("X-Amz-Decoded-Content-Length") == "" {
		body, err := io.ReadAll(r.Body)
		return string(body), err
	}
	var body strings.Builder
	for in := bufio.NewReader(r.Body); ; {
		head, err := in.ReadString('\n')
		if err != nil {
			return "", err
		}
		digits, _, _ := strings.Cut(strings.TrimSpace(head), ";")
		length, err := strconv.ParseInt(digits, 16, 64)
		if err != nil || length == 0 {
			return body.String(), err
		}
		if _, err := io.CopyN(&body, in, length); err != nil {
			return "", err
		}
		_, _ = in.ReadString('\n')
	}
}

// listing is an answer of ListObjectsV2.
type listing struct {
	XMLName  xml.Name `xml:"ListBucketResult"`
	Contents []listed
	Folders  []prefix `xml:"CommonPrefixes"`

	IsTruncated           bool
	NextContinuationToken string
}

type prefix struct{ Prefix string }

type listed struct {
	Key, ETag string
	Size      int
}

func (d *double) list(w http.ResponseWriter, r *http.Request) {
	const page = 2
	query, answer := r.URL.Query(), listing{}
	begin, delimiter := query.Get("prefix"), query.Get("delimiter")
	for _, key := range slices.Sorted(maps.Keys(d.objects)) {
		rest, inside := strings.CutPrefix(key, begin)
		if !inside || key <= query.Get("continuation-token") {
			continue
		}
		if len(answer.Contents) == page {
			answer.IsTruncated, answer.NextContinuationToken = true, answer.Contents[page-1].Key
			break
		}
		if delimiter != "" && strings.Contains(rest, delimiter) {
			folder, _, _ := strings.Cut(rest, delimiter)
			answer.Folders = append(answer.Folders, prefix{begin + folder + delimiter})
			continue
		}
		o := d.objects[key]
		answer.Contents = append(answer.Contents, listed{Key: key, ETag: `"` + o.etag() + `"`, Size: len(o.body)})
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(answer)
}
