package v1

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/localname"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// storeTime is how long Clowder may take to store an upload. Older files are taken for stored; if one is not, its download fails.
	storeTime = 2 * time.Minute
	// settlePoll is the pause between two looks at a file that is being stored.
	settlePoll = 250 * time.Millisecond
	// statusStreams is how many files are looked at in parallel.
	statusStreams = 8
	// maxName and maxType limit names in bytes and content types in characters.
	maxName = 1000
	maxType = 255
	// maxStored limits paths on Clowder's machine in bytes.
	maxStored = 2000
)

// number is a number that v1 sends as a text.
type number int64

// UnmarshalJSON reads a number or a text with a number. Anything else, and anything negative, is 0.
func (n *number) UnmarshalJSON(raw []byte) error {
	parsed, err := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
	if err != nil || parsed < 0 {
		parsed = 0
	}
	*n = number(parsed)
	return nil
}

// fileRow is a file in the list of a dataset.
type fileRow struct {
	ID          string `json:"id"`
	Filename    string `json:"filename"`
	ContentType string `json:"contentType"`
	Size        number `json:"size"`
	Stored      string `json:"filepath"`
	Folder      *struct {
		ID string `json:"id"`
	} `json:"folders"`
}

// list reads the files of all folders. Their Path is their Name.
func (s *Session) list(ctx context.Context, dataset string) ([]clowder.File, error) {
	if err := clowder.CheckIDs("dataset", dataset); err != nil {
		return nil, err
	}
	most := s.wire.Config().MaxFiles
	var files []clowder.File
	c := get("list the files of the dataset", mayView, nil, "datasets", dataset, "files")
	err := s.explained(ctx, c, func() error {
		return s.wire.Rows(ctx, c, func() { files = nil }, func(raw json.RawMessage) error {
			var row fileRow
			if json.Unmarshal(raw, &row) != nil {
				return job.Permanent(errors.New("Clowder lists a file in a form that is not known")) //nolint:staticcheck // a name
			}
			if err := clowder.CheckIDs("file", row.ID); err != nil {
				return err
			}
			name := localname.Cut(row.Filename, maxName)
			f := clowder.File{ID: row.ID, Name: name, Path: name, Size: int64(row.Size), ContentType: text.Shorten(row.ContentType, maxType), Version: 1}
			if len(row.Stored) <= maxStored {
				f.Stored = row.Stored
			}
			if row.Folder != nil {
				f.FolderID = row.Folder.ID
			}
			if files = append(files, f); len(files) > most {
				return s.wire.CheckCount(files)
			}
			return nil
		})
	})
	return files, err
}

// Files is List without the files that are still being stored.
func (s *Session) Files(ctx context.Context, dataset string) ([]clowder.File, error) {
	l, err := s.List(ctx, dataset)
	return l.Files, err
}

// List lists the files of all folders of a dataset. It waits for files that are being stored, and logs those that are not stored in time. More
// files than the limit are a permanent error.
func (s *Session) List(ctx context.Context, dataset string) (clowder.Listing, error) {
	files, err := s.list(ctx, dataset)
	if err != nil {
		return clowder.Listing{}, err
	}
	if slices.ContainsFunc(files, func(f clowder.File) bool { return f.FolderID != "" }) {
		folders, err := s.listFolders(ctx, dataset)
		if err != nil {
			return clowder.Listing{}, err
		}
		paths, parents := make(map[string]string), make(map[string][]string)
		for i, f := range files {
			if _, known := paths[f.FolderID]; !known && f.FolderID != "" {
				paths[f.FolderID], parents[f.FolderID] = pathOf(f.FolderID, folders), parentsOf(f.FolderID, folders)
			}
			if inside := paths[f.FolderID]; inside != "" {
				files[i].Path, files[i].Folders = inside+"/"+f.Name, parents[f.FolderID]
			}
		}
	}
	if err = s.settle(ctx, files); err != nil {
		return clowder.Listing{}, err
	}
	l := clowder.NewListing(files)
	return l, s.wire.CheckCount(l.Files)
}

// settle waits until the newest files are stored or the wait is over. Those that are not stored are in flight.
func (s *Session) settle(ctx context.Context, files []clowder.File) error {
	for end := time.Now().Add(s.wire.Config().UploadWait(ctx)); ; {
		if err := s.look(ctx, files, func(f clowder.File) bool { return !f.Deleted && (f.InFlight || time.Since(created(f.ID)) < storeTime) }); err != nil {
			return err
		}
		arriving := slices.ContainsFunc(files, func(f clowder.File) bool { return f.InFlight && !f.Deleted })
		if !arriving {
			return nil
		}
		if !time.Now().Before(end) {
			for _, f := range files {
				if f.InFlight && !f.Deleted {
					s.wire.Config().Logger.Warn("left out a file that Clowder did not store", zap.String("file_id", f.ID))
				}
			}
			return nil
		}
		if err := pause(ctx, settlePoll); err != nil {
			return err
		}
	}
}

// pause waits, or returns the reason why ctx ended.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for uploads to end: %w", context.Cause(ctx))
	}
}

// look adds to the files that which selects whether they are being stored, and their thumbnails. Files that are gone are marked as being
// stored, too, so that nothing takes them for complete.
func (s *Session) look(ctx context.Context, files []clowder.File, which func(clowder.File) bool) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(statusStreams)
	for i := range files {
		if !which(files[i]) {
			continue
		}
		group.Go(func() error {
			state, err := s.stored(ctx, files[i].ID)
			if clowder.StatusOf(err) == http.StatusNotFound {
				files[i].InFlight, files[i].Deleted = true, true
				return nil
			}
			files[i].InFlight, files[i].ThumbnailID = state.Status == arriving, state.Thumbnail
			return err
		})
	}
	return group.Wait()
}

// arriving is the status of a file that Clowder lists and has not stored. Both other ones, UPLOADED and PROCESSED, mean that its bytes are
// there; a file can keep any of the three.
const arriving = "CREATED"

// fileState is what v1 says of a single file.
type fileState struct {
	Status    string `json:"status"`
	Thumbnail string `json:"thumbnail"`
	Size      number `json:"size"`
	// Path has the folders of the file, and is "/" in the root of the dataset.
	Path string `json:"path"`
}

func (s *Session) stored(ctx context.Context, id string) (fileState, error) {
	var out fileState
	if err := clowder.CheckIDs("file", id); err != nil {
		return out, err
	}
	return out, s.do(ctx, get("read the state of a file", mayView, &out, "files", id, "metadata"))
}

// FolderFiles lists the files directly in a folder ("" is the root), including files that are being stored. Their Path is their Name. The
// thumbnail of a file that this session has uploaded may be missing.
func (s *Session) FolderFiles(ctx context.Context, dataset, id string) ([]clowder.File, error) {
	files, err := s.list(ctx, dataset)
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(f clowder.File) bool { return f.FolderID != id })
	return files, s.look(ctx, files, func(f clowder.File) bool { return !s.files.has(f.ID) })
}

// open requests the bytes of a file.
func (s *Session) open(ctx context.Context, f clowder.File) (*http.Response, error) {
	c := get(fmt.Sprintf("download %q", text.Excerpt(f.Path, 80)), mayDownload, nil, "files", f.ID)
	c.Query = url.Values{"tracking": {"false"}}
	var answer *http.Response
	err := s.explained(ctx, c, func() (err error) {
		answer, err = s.wire.Get(ctx, c) //nolint:bodyclose // the caller closes it
		return err
	})
	switch {
	case clowder.StatusOf(err) == http.StatusInternalServerError:
		return nil, s.notStored(ctx, c, f, err)
	case err != nil:
		return nil, err
	case answer.Header.Get("Content-Disposition") == "":
		_ = answer.Body.Close()
		return nil, c.Invalid(answer, errors.New("it is not a file"))
	default:
		return answer, nil
	}
}

// MayDownload asks for the bytes of a file and takes none of them: v1 tells in no other way whether the licence of a file forbids its download.
func (s *Session) MayDownload(ctx context.Context, f clowder.File) error {
	answer, err := s.open(ctx, f)
	if err == nil {
		_ = answer.Body.Close()
	}
	return err
}

// notStored is the error of a download that was answered with 500. v1 answers so for a file that it has not stored, and some files are never stored
// after a failed upload.
func (s *Session) notStored(ctx context.Context, c clowder.Call, f clowder.File, err error) error {
	state, lookErr := s.stored(ctx, f.ID)
	if lookErr != nil || state.Status != arriving {
		return err
	}
	if time.Since(created(f.ID)) < s.wire.Config().AnswerTimeout {
		return job.Retryable(fmt.Errorf("Clowder could not %s: it is still being stored", c.What)) //nolint:staticcheck // a name
	}
	return job.Permanent(fmt.Errorf("Clowder could not %s: its upload failed, so delete this file in Clowder or upload it again", c.What)) //nolint:staticcheck // a name
}

// DeleteFile deletes a file. It returns nil if the file does not exist.
func (s *Session) DeleteFile(ctx context.Context, id string) error {
	if _, err := s.stored(ctx, id); err != nil {
		if clowder.StatusOf(err) == http.StatusNotFound {
			return nil
		}
		return err
	}
	c := get("delete a file", mayDelete, nil, "files", id)
	c.Method = http.MethodDelete
	err := s.do(ctx, c)
	if err == nil || clowder.StatusOf(err) != http.StatusForbidden {
		return err
	}
	if _, gone := s.stored(ctx, id); clowder.StatusOf(gone) == http.StatusNotFound {
		return nil // an earlier try of the same call deleted it
	}
	return err
}
