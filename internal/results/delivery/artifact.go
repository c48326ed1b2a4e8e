package delivery

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
)

// Show says how a deliverable is best looked at.
type Show string

// The ways to look at a deliverable.
const (
	ShowNone  Show = "none"
	ShowImage Show = "image"
	// ShowThumbnail is on the card of the model only, where a chart of its own shows the same.
	ShowThumbnail Show = "thumbnail"
	// ShowPicture is on a card of the dataset only: the model has another small picture.
	ShowPicture Show = "picture"
	ShowHTML    Show = "html"
	ShowVega    Show = "vega"
)

// OnCard says whether the deliverable gets a card of its own on the page of the dataset.
func (s Show) OnCard() bool {
	return s == ShowImage || s == ShowPicture || s == ShowHTML || s == ShowVega
}

// OnModel says whether it is the small picture of the model's file.
func (s Show) OnModel() bool { return s == ShowImage || s == ShowThumbnail }

// Artifact is one deliverable: a finished file on this machine, or one that is kept in memory.
type Artifact struct {
	// Name is where the user finds it in the folder of the run, with slashes: "model.zip", "plots/loss.png".
	Name string
	// Folder is where it lies now, under its name. It is zero for one in memory.
	Folder      disk.Folder `json:"-"`
	ContentType string
	Size        int64
	SHA256      string
	Show        Show
	Title       string
	Description string

	content []byte // of one in memory
}

// Open opens the file for a reader that gets the bytes that were built or, before the last of them, an error. The error is
// permanent where another program has changed the file: it must not be handed over, and a look by a person is due.
func (a Artifact) Open() (io.ReadCloser, error) {
	if a.Folder == (disk.Folder{}) {
		return io.NopCloser(bytes.NewReader(a.content)), nil
	}
	root, err := a.Folder.Open()
	if err != nil {
		return nil, results.DiskError(fmt.Errorf("open the folder of the deliverables: %w", err))
	}
	defer func() { _ = root.Close() }()
	f, err := disk.OpenVerified(root, filepath.FromSlash(a.Name), a.Size, a.SHA256)
	if err != nil {
		return nil, a.fault(err)
	}
	return struct {
		io.Reader
		io.Closer
	}{artifactReader{f, a}, f}, nil
}

// artifactReader classifies the errors of reading an artifact.
type artifactReader struct {
	r io.Reader
	a Artifact
}

// Read implements io.Reader.
func (r artifactReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = r.a.fault(err)
	}
	return n, err
}

// fault says what is wrong with the file.
func (a Artifact) fault(err error) error {
	if errors.Is(err, disk.ErrChanged) {
		return job.Permanent(fmt.Errorf("%s is not delivered, because another program changed it after it was checked (%w): "+
			"ask the administrator which other program writes to the shared volume, then submit again", a.Name, err))
	}
	return results.DiskError(fmt.Errorf("open %s: %w", a.Name, err))
}
