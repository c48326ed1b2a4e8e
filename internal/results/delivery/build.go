package delivery

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/text"
)

// builtFile lists the deliverables in their folder. It is written last.
const builtFile = ".built.json"

// inMemory is the size in bytes up to which a deliverable stays in memory. A small file costs a disk as much as a large one.
const inMemory = 64 << 10

// deliverable is a file of the user's and how it is made.
type deliverable struct {
	Artifact
	write func(w io.Writer) error
}

// Build makes the files that the user gets from a verified result and returns them in the order in which they should be
// uploaded: a file list that shows the newest first then begins with the report and the model.
//
// Small files stay in memory. Larger ones lie in the folder to, which must be out of reach of the training: from a run folder a program of
// another user could put other files in their place. Built again from the same run they are the same, byte for byte; what is in the folder
// already and whole is kept.
func Build(ctx context.Context, run, to disk.Folder, r *results.Result, m manifest.Meta) ([]Artifact, error) {
	root, err := results.OpenRun(run)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	events, err := results.ReadEvents(run)
	if err != nil {
		return nil, fmt.Errorf("read what the run did: %w", err)
	}
	return build(ctx, to, []any{r, m}, r.Outputs, deliverables(ctx, root, events, r, m))
}

// build makes the planned files. They are a function of from, and hold copies of outputs.
func build(ctx context.Context, to disk.Folder, from any, outputs []results.Output, planned []deliverable) ([]Artifact, error) {
	key, err := buildKey(from)
	if err != nil {
		return nil, err
	}
	b := &builder{to: to, outputs: outputs}
	defer b.close()
	kept := built(to, key)
	var artifacts []Artifact
	for _, d := range planned {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a, whole := kept[d.Name]
		if !whole {
			if a, err = b.produce(d); err != nil {
				return nil, fmt.Errorf("make %s: %w", d.Name, err)
			}
		}
		artifacts = append(artifacts, a)
	}
	return artifacts, b.mark(key, artifacts)
}

// builder makes deliverables. It opens their folder for the first one that does not fit in memory.
type builder struct {
	to      disk.Folder
	outputs []results.Output
	root    *os.Root
}

func (b *builder) close() {
	if b.root != nil {
		_ = b.root.Close()
	}
}

// folder opens the folder of the deliverables.
func (b *builder) folder() (*os.Root, error) {
	if b.root != nil {
		return b.root, nil
	}
	if err := checkRoom(b.to, b.outputs); err != nil {
		return nil, err
	}
	root, err := b.to.MakeUnsynced() // what a power cut takes away is made again
	if err != nil {
		return nil, results.DiskError(fmt.Errorf("make the folder of deliverables: %w", err))
	}
	b.root = root
	return root, nil
}

// reserve is how many bytes stay free on the disk of the deliverables.
const reserve = 1 << 30

// checkRoom refuses to copy what the disk cannot hold: files of a run may be sparse, and their copies are not.
func checkRoom(to disk.Folder, outputs []results.Output) error {
	var need int64
	for _, o := range outputs {
		need += o.Size
	}
	if free, known := disk.Free(to.Volume); known && free-reserve < need {
		return job.Retryable(fmt.Errorf("the disk of the training service is too full for the results: they need %s, and %s is free; ask the administrator to free space",
			text.Bytes(need), text.Bytes(free)))
	}
	return nil
}

// folderMode keeps everybody but the service from putting files into the folder of deliverables.
const folderMode = 0o755

// produce makes one deliverable.
func (b *builder) produce(d deliverable) (Artifact, error) {
	a := d.Artifact
	if a.Show == "" {
		a.Show = ShowNone
	}
	sum := sha256.New()
	size := new(counter)
	out := &spool{create: func() (*part, error) { return b.part(a.Name) }}
	buffered := bufio.NewWriter(io.MultiWriter(sum, size, out)) // templates write in many small pieces
	err := d.write(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	a.Size, a.SHA256 = int64(*size), hex.EncodeToString(sum.Sum(nil))
	if out.file == nil {
		a.content = out.memory.Bytes()
		return a, err
	}
	a.Folder = b.to
	return a, out.file.finish(err)
}

// spool keeps what is written in memory until that is too much, and then in a file.
type spool struct {
	create func() (*part, error)
	memory bytes.Buffer
	file   *part
}

// Write implements io.Writer.
func (s *spool) Write(p []byte) (int, error) {
	if s.file == nil && s.memory.Len()+len(p) <= inMemory {
		return s.memory.Write(p)
	}
	if s.file == nil {
		file, err := s.create()
		if err != nil {
			return 0, err
		}
		s.file = file
		if _, err := s.memory.WriteTo(file); err != nil {
			return 0, err
		}
	}
	return s.file.Write(p)
}

// part is a file beside its place, to which it is renamed once it is whole, so that it is never there by half.
type part struct {
	*os.File
	root *os.Root
	name string
}

const partSuffix = ".part"

// part makes the file for a deliverable. What a stranger put in its place, a link for example, is replaced and not followed.
func (b *builder) part(name string) (*part, error) {
	root, err := b.folder()
	if err != nil {
		return nil, err
	}
	if folder := path.Dir(name); folder != "." {
		if err := root.MkdirAll(folder, folderMode); err != nil {
			return nil, job.Retryable(fmt.Errorf("make the folder of deliverables: %w", err))
		}
	}
	if err := root.RemoveAll(name + partSuffix); err != nil {
		return nil, job.Retryable(err)
	}
	f, err := root.OpenFile(name+partSuffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, job.Retryable(err)
	}
	return &part{File: f, root: root, name: name}, nil
}

// finish moves the file to its place, or removes it if it could not be written. It does not wait for the disk: what a power cut leaves behind
// fails its sha256 in built and is made again.
func (p *part) finish(err error) error {
	if err = errors.Join(err, p.Close()); err == nil {
		err = p.root.Rename(p.name+partSuffix, p.name)
	}
	if err != nil {
		_ = p.root.Remove(p.name + partSuffix)
	}
	return err
}

// counter counts the bytes that are written to it.
type counter int64

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// record is what .built.json holds.
type record struct {
	Key       string     `json:"key"`
	Artifacts []Artifact `json:"artifacts"`
}

// buildKey names what the deliverables are made from.
func buildKey(from any) (string, error) {
	doc, err := json.Marshal(from)
	if err != nil {
		return "", fmt.Errorf("encode the result: %w", err)
	}
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:]), nil
}

// built returns the whole files that an earlier call made of the same run, by their names. Those that are missing or damaged are made again, so
// no error is worth a word.
func built(to disk.Folder, key string) map[string]Artifact {
	root, err := to.Open()
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	doc, err := results.ReadBounded(root, builtFile, results.MaxFailure)
	if err != nil {
		return nil
	}
	var rec record
	if json.Unmarshal(doc, &rec) != nil || rec.Key != key {
		return nil
	}
	kept := map[string]Artifact{}
	for _, a := range rec.Artifacts {
		if results.VerifyBytes(root, results.Output{Path: a.Name, Size: a.Size, SHA256: a.SHA256}) == nil {
			a.Folder = to
			kept[a.Name] = a
		}
	}
	return kept
}

// mark lists the artifacts that are files, if one of them was made now.
func (b *builder) mark(key string, artifacts []Artifact) error {
	if b.root == nil {
		return nil
	}
	list := record{Key: key}
	for _, a := range artifacts {
		if a.Folder != (disk.Folder{}) {
			list.Artifacts = append(list.Artifacts, a)
		}
	}
	p, err := b.part(builtFile)
	if err != nil {
		return err
	}
	return p.finish(results.WriteJSON(p, list))
}
