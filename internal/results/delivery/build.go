package delivery

import (
	"bufio"
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

// builtFile is the list of the deliverables in their folder, written last.
const builtFile = ".built.json"

// deliverable is a file of the user's and how it is made.
type deliverable struct {
	Artifact
	write func(w io.Writer) error
}

// Build makes the files that the user gets from a verified result and returns them in the order in which they should be
// uploaded: a file list that shows the newest first then begins with the report and the model.
//
// The files lie in the folder to, which must be out of reach of the training: from a run folder a program of another user could
// put other files in their place. Built again from the same run they are the same, byte for byte; what is there already and
// whole is kept.
func Build(ctx context.Context, run, to disk.Folder, r *results.Result, m manifest.Meta) ([]Artifact, error) {
	root, err := results.OpenRun(run)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return build(ctx, to, []any{r, m}, func() ([]deliverable, error) {
		if err := checkRoom(to, r.Outputs); err != nil {
			return nil, err
		}
		events, err := results.ReadEvents(run)
		if err != nil {
			return nil, fmt.Errorf("read what the run did: %w", err)
		}
		return deliverables(ctx, root, events, r, m), nil
	})
}

// build makes the files of plan in a folder. They are a function of from.
func build(ctx context.Context, to disk.Folder, from any, plan func() ([]deliverable, error)) ([]Artifact, error) {
	root, err := to.MakeUnsynced() // what a power cut takes away is made again
	if err != nil {
		return nil, results.DiskError(fmt.Errorf("make the folder of deliverables: %w", err))
	}
	defer func() { _ = root.Close() }()
	key, err := buildKey(from)
	if err != nil {
		return nil, err
	}
	if artifacts, ok := built(root, to, key); ok {
		return artifacts, nil
	}
	planned, err := plan()
	if err != nil {
		return nil, err
	}
	var artifacts []Artifact
	for _, d := range planned {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := root.MkdirAll(path.Dir(d.Name), folderMode); err != nil {
			return nil, job.Retryable(fmt.Errorf("make the folder of deliverables: %w", err))
		}
		a, err := produce(root, to, d)
		if err != nil {
			return nil, fmt.Errorf("make %s: %w", d.Name, err)
		}
		artifacts = append(artifacts, a)
	}
	return artifacts, markBuilt(root, key, artifacts)
}

// reserve is how many bytes stay free on the disk of the deliverables.
const reserve = 1 << 30

// checkRoom refuses to copy what the disk cannot hold: files of a run may be sparse, and their copies are not.
func checkRoom(to disk.Folder, outputs []results.Output) error {
	var need int64
	for _, o := range outputs {
		need += o.Size
	}
	if free, known := disk.Free(to.Path()); known && free-reserve < need {
		return job.Retryable(fmt.Errorf("the disk of the training service is too full for the results: they need %s, and %s is free; ask the administrator to free space",
			text.Bytes(need), text.Bytes(free)))
	}
	return nil
}

// folderMode keeps everybody but the service from putting files into the folder of deliverables.
const folderMode = 0o755

// produce writes one deliverable beside its place and renames it, so that it is never there by half.
func produce(root *os.Root, to disk.Folder, d deliverable) (Artifact, error) {
	a := d.Artifact
	a.Folder = to
	if a.Show == "" {
		a.Show = ShowNone
	}
	sum := sha256.New()
	size := new(counter)
	err := writeAtomically(root, a.Name, d.write, sum, size)
	a.Size, a.SHA256 = int64(*size), hex.EncodeToString(sum.Sum(nil))
	return a, err
}

// writeAtomically writes a file of root so that a reader sees all of it or nothing. What a stranger put in its place, a link
// for example, is replaced and not followed. It does not wait for the disk: what a power cut leaves behind fails its sha256 in
// built and is made again. The writers also get the same bytes.
func writeAtomically(root *os.Root, name string, write func(io.Writer) error, also ...io.Writer) (err error) {
	part := name + ".part"
	if err := root.RemoveAll(part); err != nil {
		return job.Retryable(err)
	}
	f, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return job.Retryable(err)
	}
	defer func() {
		if err != nil {
			_ = root.Remove(part)
		}
	}()
	out := bufio.NewWriter(io.MultiWriter(append(also, f)...)) // templates write in many small pieces
	err = write(out)
	if err == nil {
		err = out.Flush()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return root.Rename(part, name)
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

// built returns the deliverables that an earlier call made of the same run, if all of them are whole. Whatever is wrong with
// them, they can be made again, so no error is worth a word.
func built(root *os.Root, to disk.Folder, key string) ([]Artifact, bool) {
	doc, err := results.ReadBounded(root, builtFile, results.MaxFailure)
	if err != nil {
		return nil, false
	}
	var rec record
	if json.Unmarshal(doc, &rec) != nil || rec.Key != key {
		return nil, false
	}
	for i, a := range rec.Artifacts {
		if results.VerifyBytes(root, results.Output{Path: a.Name, Size: a.Size, SHA256: a.SHA256}) != nil {
			return nil, false
		}
		rec.Artifacts[i].Folder = to
	}
	return rec.Artifacts, len(rec.Artifacts) > 0
}

func markBuilt(root *os.Root, key string, artifacts []Artifact) error {
	return writeAtomically(root, builtFile, func(w io.Writer) error {
		return results.WriteJSON(w, record{Key: key, Artifacts: artifacts})
	})
}
