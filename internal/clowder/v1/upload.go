package v1

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// field is the name of the part with the file. v1 takes any name for a file of a dataset, and this one only for a preview or thumbnail.
const field = "File"

type made struct {
	ID string `json:"id"`
}

// Upload adds a file to a folder of the dataset ("" is its root), waits until Clowder has stored it, and returns it. No extractor is started by
// it.
//
// Each successful upload makes a new file, also if the name exists. After an error of kind unknown, list the folder when no file in it
// is in flight.
func (s *Session) Upload(ctx context.Context, dataset, folder string, body clowder.Body) (clowder.File, error) {
	if err := clowder.CheckIDs("dataset", dataset); err != nil {
		return clowder.File{}, err
	}
	if err := clowder.CheckName("file", body.Name); err != nil {
		return clowder.File{}, err
	}
	query := url.Values{"extract": {"false"}}
	if folder != "" {
		if err := s.checkFolder(ctx, dataset, folder); err != nil {
			return clowder.File{}, err
		}
		query.Set("folder_id", folder)
	}
	var answer made
	c := post(fmt.Sprintf("store %q in the dataset", text.Shorten(body.Name, 80)), mayAdd, nil, &answer, "uploadToDataset", dataset)
	c.Query = query
	if err := s.send(ctx, c, body); err != nil {
		return clowder.File{}, err
	}
	if err := clowder.CheckIDs("file", answer.ID); err != nil {
		return clowder.File{}, job.Unknown(err)
	}
	return s.arrived(ctx, clowder.File{
		ID: answer.ID, Name: body.Name, Path: body.Name, Size: body.Size, ContentType: body.ContentType, Version: 1, FolderID: folder,
	})
}

// visibleIn is how long Clowder may take until it finds what it has just stored: it waits for no confirm of its database, and on a busy server
// that has taken seconds.
const visibleIn = 15 * time.Second

// visible makes a call about something that was just stored, until Clowder finds it or visibleIn is over. Then the error is retryable.
func (s *Session) visible(ctx context.Context, what string, call func() error) error {
	wait := 10 * time.Millisecond
	for end := time.Now().Add(min(visibleIn, s.wire.Config().InFlightWait)); ; wait = min(2*wait, time.Second) {
		err := call()
		if clowder.StatusOf(err) != http.StatusNotFound {
			return err
		}
		if time.Now().After(end) {
			return job.Retryable(fmt.Errorf("Clowder does not find %s that it has just stored: %w", what, err)) //nolint:staticcheck // a name
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

func (s *Session) send(ctx context.Context, c clowder.Call, body clowder.Body) error {
	return s.explained(ctx, c, func() error { return s.wire.Send(ctx, c, field, body) })
}

// storedPoll is the longest pause between two looks at a file that Clowder stores in an ordinary time.
const storedPoll = 200 * time.Millisecond

// arrived waits until Clowder has stored an upload, which it answers before. If it cannot store one it removes it from the dataset.
func (s *Session) arrived(ctx context.Context, f clowder.File) (clowder.File, error) {
	fail := func(format string, args ...any) (clowder.File, error) {
		return f, job.Unknown(fmt.Errorf("Clowder did not store %q: "+format, append([]any{f.Name}, args...)...))
	}
	wait, began := 5*time.Millisecond, time.Now()
	for end := began.Add(s.wire.Config().AnswerTimeout); ; wait = min(2*wait, storedPoll+time.Since(began)/10, 2*time.Second) {
		var state fileState
		err := s.visible(ctx, "the file", func() (err error) { state, err = s.stored(ctx, f.ID); return err })
		switch {
		case clowder.StatusOf(err) == http.StatusNotFound:
			return fail("it is gone after the upload")
		case err != nil:
			return fail("%w", err)
		case state.Status != arriving && int64(state.Size) != f.Size:
			return fail("it has %d of %d bytes", state.Size, f.Size)
		case state.Status != arriving && f.FolderID != "" && state.Path == "/":
			// Its folder was deleted during the upload. The file must not stay among the data of the user.
			if err := s.DeleteFile(ctx, f.ID); err != nil {
				return fail("its folder is gone, and it cannot be removed from the dataset: %w", err)
			}
			return f, job.Permanent(clowder.NewAnswerError(http.StatusNotFound, fmt.Sprintf("Clowder could not store %q (404): its folder was deleted, so submit again", f.Name)))
		case state.Status != arriving:
			s.files.add(f.ID)
			return f, nil
		case time.Now().After(end):
			return fail("it is still being stored after %s", text.Duration(s.wire.Config().AnswerTimeout))
		}
		if err := pause(ctx, wait); err != nil {
			return fail("%w", err)
		}
	}
}

// AddThumbnail stores a small picture and returns its id. Clowder shows it after SetFileThumbnail.
func (s *Session) AddThumbnail(ctx context.Context, body clowder.Body) (string, error) {
	var answer made
	err := s.send(ctx, post("store a thumbnail", mayAdd, nil, &answer, "fileThumbnail"), body)
	return answer.ID, err
}

// SetFileThumbnail shows a thumbnail on the card of a file. Clowder shows it on the dataset, too, if the dataset has none and the file lies in
// its root.
func (s *Session) SetFileThumbnail(ctx context.Context, file, thumbnail string) error {
	if err := clowder.CheckIDs("file", file, "thumbnail", thumbnail); err != nil {
		return err
	}
	c := post("set the thumbnail of a file", mayAdd, map[string]string{}, nil, "files", file, "thumbnails", thumbnail)
	c.Once = false       // a second time changes nothing
	s.files.remove(file) // its next state has the thumbnail
	return s.visible(ctx, "the thumbnail", func() error { return s.do(ctx, c) })
}

// Previews lists the previews of a file.
func (s *Session) Previews(ctx context.Context, file string) ([]clowder.Preview, error) {
	if err := clowder.CheckIDs("file", file); err != nil {
		return nil, err
	}
	var list []clowder.Preview
	return list, s.do(ctx, get("list the previews of a file", mayView, &list, "files", file, "listpreviews"))
}

// AddPreview shows a picture on the page of a file and returns the id of the preview. Each successful call adds one; check with Previews
// before. A preview whose second call fails is shown nowhere.
func (s *Session) AddPreview(ctx context.Context, file, extractor string, body clowder.Body) (string, error) {
	if err := clowder.CheckIDs("file", file); err != nil {
		return "", err
	}
	var answer made
	if err := s.send(ctx, post("store a preview", mayAdd, nil, &answer, "previews"), body); err != nil {
		return "", err
	}
	if err := clowder.CheckIDs("preview", answer.ID); err != nil {
		return "", err
	}
	c := post("show a preview", mayAdd, map[string]string{"extractor_id": extractor}, nil, "files", file, "previews", answer.ID)
	c.Once = false // the same preview is shown once
	err := s.visible(ctx, "the preview", func() error { return s.do(ctx, c) })
	return answer.ID, err
}
