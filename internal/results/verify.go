package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results/safetensors"
)

// verify checks every file that a result names: there, regular, of its size and sha256, and, but for a script, of a kind that is safe
// to hand to others. A script may write files of any kind, because its user gets them, and the report says whose they are.
func verify(root *os.Root, r *Result) error {
	check := verifyOne
	if r.Kind == ResultScript {
		check = VerifyBytes
	}
	for _, o := range r.Outputs {
		if err := check(root, o); err != nil {
			return err
		}
	}
	return nil
}

// verifyOne checks the kind on the very bytes whose sha256 is checked: the file may be replaced between two reads of it.
func verifyOne(root *os.Root, o Output) error {
	head := &prefix{weights: path.Ext(o.Path) == WeightsSuffix}
	if err := CopyOutput(head, root, o); err != nil {
		return err
	}
	if err := checkKind(head.bytes, o); err != nil {
		return job.Permanent(fmt.Errorf("%s: %w: ask the administrator to check the training program", o.Path, err))
	}
	return nil
}

// VerifyBytes checks the size and the sha256 of a file only.
func VerifyBytes(root *os.Root, o Output) error {
	return CopyOutput(io.Discard, root, o)
}

// CopyOutput copies a file of the run folder and fails if it is not the promised one.
func CopyOutput(w io.Writer, root *os.Root, o Output) error {
	f, err := OpenOutput(root, o)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if _, err := io.Copy(w, f); err != nil {
		return DiskError(fmt.Errorf("read %s: %w", o.Path, err))
	}
	return nil
}

// OpenOutput opens a file of the run folder for a reader that gets the promised bytes or, at the end, an error.
func OpenOutput(root *os.Root, o Output) (io.ReadCloser, error) {
	f, err := disk.OpenVerified(root, o.Path, o.Size, o.SHA256)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, job.Retryable(fmt.Errorf("the run lists %s, but the file is missing: %w", o.Path, fs.ErrNotExist))
	}
	if err != nil {
		return nil, DiskError(err)
	}
	return f, nil
}

// prefix keeps the first bytes that are written to it: as many as tell the kind of a file, and of weights the header.
type prefix struct {
	weights bool
	bytes   []byte
}

// Write implements io.Writer.
func (p *prefix) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		take := min(len(rest), p.limit()-len(p.bytes))
		if take <= 0 {
			break
		}
		p.bytes, rest = append(slices.Grow(p.bytes, p.limit()-len(p.bytes)), rest[:take]...), rest[take:]
	}
	return len(b), nil
}

// sniffLen is how much of a file tells its kind.
const sniffLen = 512

// limit is how many bytes are kept, as far as is known now.
func (p *prefix) limit() int {
	if p.weights {
		return safetensors.HeadSize(p.bytes)
	}
	return sniffLen
}

// checkKind refuses what may run code on the machine of the person who opens it, whatever its name says, and weights that are not
// what their name says. head is how the file begins.
func checkKind(head []byte, o Output) error {
	if path.Ext(o.Path) == WeightsSuffix {
		return safetensors.Check(head, o.Size)
	}
	if looksLikePickle(head) {
		return errors.New("the file is a Python pickle, which may run code when it is opened")
	}
	if IsBoard(o.Path) {
		return nil
	}
	switch strings.ToLower(path.Ext(o.Path)) {
	case ".parquet":
		if !bytes.HasPrefix(head, parquetHeader) {
			return errors.New("the file is no Parquet table")
		}
		return nil
	case ".tif":
		if !slices.ContainsFunc(tiffHeaders, func(h []byte) bool { return bytes.HasPrefix(head, h) }) {
			return errors.New("the file is no TIFF picture")
		}
		return nil
	case ".gpkg":
		if !isGeoPackage(head) {
			return errors.New("the file is no GeoPackage")
		}
		return nil
	case ".onnx":
		if o.Path != onnxFile || !bytes.HasPrefix(head, onnxHeader) {
			return errors.New("the file is no ONNX model")
		}
		return nil
	case ".json", ".jsonl", ".geojson", ".txt", ".csv", ".tsv", ".md", ".png", ".model", ".jinja":
		return nil
	default: // a list of what is harmless, because one of what is not is never complete
		return errors.New("files of this type are not delivered, because they may run code when they are opened")
	}
}

// onnxFile is the only ONNX file of a training: its network for other programs. An ONNX file holds numbers and names of operations, and
// begins with the version of the format as its first field.
const onnxFile = ModelDir + "model.onnx"

var onnxHeader = []byte{0x08}

// tiffHeaders are how TIFF pictures begin: in both orders of bytes, and the larger form.
var tiffHeaders = [][]byte{[]byte("II*\x00"), []byte("MM\x00*"), []byte("II+\x00"), []byte("MM\x00+")}

// isGeoPackage reports whether a file begins as a database of SQLite that says it is a GeoPackage.
func isGeoPackage(head []byte) bool {
	const name, at = "GPKG", 68
	return bytes.HasPrefix(head, []byte("SQLite format 3\x00")) && len(head) >= at+len(name) && string(head[at:at+len(name)]) == name
}

// parquetHeader begins every Parquet file.
var parquetHeader = []byte("PAR1")

// IsBoard recognises TensorBoard's files by their place and name, since they have no ending of their own.
func IsBoard(p string) bool {
	return strings.HasPrefix(p, boardDir) && strings.HasPrefix(path.Base(p), "events.out.tfevents.")
}

// looksLikePickle recognises what Python's pickle (protocol 2 and newer: 0x80 and its number) and torch.save (a zip archive
// with a pickle in it) write, whatever the name of the file says. A trainer has no reason to write any other archive.
func looksLikePickle(head []byte) bool {
	return len(head) >= 2 && (head[0] == 0x80 && head[1] >= 2 && head[1] <= 5 || string(head[:2]) == "PK")
}
