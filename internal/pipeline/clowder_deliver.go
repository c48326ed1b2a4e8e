package pipeline

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
)

// resultsRoot is the folder of a dataset that holds the folders of all runs. What lies in it was made here and is never
// read as training data.
const resultsRoot = "finetune"

// Deliver puts the artifacts into a folder of the run, then shows them: pictures and pages on the dataset, a picture on the
// model, and one metadata entry. Each of these is one step of the ledger.
func (c *Clowder) Deliver(ctx context.Context, rec job.Record, d Delivery, l LedgerFile, say func(string)) (string, error) {
	s, err := c.session(rec)
	if err != nil {
		return "", err
	}
	ledger, err := results.OpenLedger(l.Saved, l.Save)
	if err != nil {
		return "", err
	}
	extractor := c.extractors.Of(rec.Request)
	dataset, folders := rec.Request.DatasetID, results.Folder(d.Meta, d.Result)
	if err := ledger.Plan(effects(folders, rec.Run, d.Artifacts)); err != nil {
		return "", err
	}
	parent := ""
	for i := range folders {
		if parent, err = ledger.Do(ctx, folderStep(s, dataset, parent, strings.Join(folders[:i+1], "/"), folders[i])); err != nil {
			return "", err
		}
	}
	ids, err := results.Deliver(ctx, ledger, newRunFolder(s, ledger, dataset, parent, folders), d.Artifacts)
	if err != nil {
		return "", err
	}
	for _, a := range d.Artifacts {
		if a.Show.OnCard() {
			if _, err := ledger.Do(ctx, visualizationStep(s, dataset, extractor.Name(), rec.Run, a)); err != nil {
				return "", err
			}
		}
		if a.Show.OnModel() && ids[modelArchive] != "" {
			if _, err := ledger.Do(ctx, thumbnailStep(s, dataset, parent, ids[modelArchive], a)); err != nil {
				return "", err
			}
		}
	}
	if _, err := ledger.Do(ctx, metadataStep(s, dataset, extractor, rec.Run, d, ids)); err != nil {
		return "", err
	}
	if err := answerFiles(ctx, s, ledger, extractor, rec, d.Result, say); err != nil {
		return "", err
	}
	notes, err := ledger.Encode()
	if err != nil {
		return "", err
	}
	l.Last(notes)
	c.noteHidden(ctx, s, dataset, say)
	return "Results in folder " + strings.Join(folders, "/"), nil
}

// effects lists what Deliver is about to do: all but the answers to single files, which can be very many.
func effects(folders []string, run string, artifacts []results.Artifact) []results.Entry {
	var list []results.Entry
	for i := range folders {
		list = append(list, results.Entry{Kind: results.KindFolder, Name: strings.Join(folders[:i+1], "/")})
	}
	add := func(kind string, a results.Artifact) {
		list = append(list, results.Entry{Kind: kind, Name: a.Name, SHA256: a.SHA256, Size: a.Size})
	}
	for _, a := range artifacts {
		add(results.KindFile, a)
		if a.Show.OnCard() {
			add(results.KindVisualization, a)
		}
		if a.Show.OnModel() {
			add(results.KindThumbnail, a)
		}
	}
	return append(list, results.Entry{Kind: results.KindMetadata, Name: run})
}

// noteHidden tells collaborators what Clowder v2 does not: the owner of a private dataset sees no files that others add. A
// failed look costs no more than the note.
func (c *Clowder) noteHidden(ctx context.Context, s *clowder.Session, dataset string, say func(string)) {
	d, err := s.Dataset(ctx, dataset)
	if err != nil || d.Status != "PRIVATE" {
		return
	}
	if me, err := s.CheckKey(ctx); err == nil && d.Creator.Email != me {
		say("Note: this dataset is private, and Clowder does not show its owner the files that you add")
	}
}

// modelArchive is the artifact that holds the model.
const modelArchive = "model.zip"

func folderStep(s *clowder.Session, dataset, parent, full, name string) results.Step {
	return results.Step{
		Kind: results.KindFolder, Name: full,
		Look: func(ctx context.Context, _ results.Entry) (string, bool, error) {
			id, err := s.FindFolder(ctx, dataset, parent, name)
			return id, id != "", err
		},
		Do: func(ctx context.Context) (string, error) { return s.AddFolder(ctx, dataset, parent, name) },
	}
}

func visualizationStep(s *clowder.Session, dataset, extractor, run string, a results.Artifact) results.Step {
	v := clowder.Visualization{
		Client: extractor, MimeType: a.ContentType, Parameters: map[string]any{"run": run, "artifact": a.Name},
		Name: a.Title, Description: a.Description,
	}
	switch a.Show {
	case results.ShowImage:
		v.Component = clowder.ComponentImage
	case results.ShowHTML:
		v.Component = clowder.ComponentHTML
	case results.ShowVega, results.ShowThumbnail, results.ShowNone:
		v.Component = clowder.ComponentVega
	}
	return results.Step{
		Kind: results.KindVisualization, Name: a.Name, SHA256: a.SHA256, Size: a.Size,
		Look: func(ctx context.Context, prior results.Entry) (string, bool, error) {
			have, err := s.Visualizations(ctx, dataset)
			if err != nil {
				return "", false, err
			}
			for _, h := range have {
				if h.Client != v.Client || h.Parameters["run"] != run || h.Parameters["artifact"] != a.Name {
					continue
				}
				if stale := prior.SHA256 != "" && prior.SHA256 != a.SHA256; len(h.DataIDs) > 0 && !stale {
					return h.ConfigID, true, nil
				}
				// It is an earlier attempt's, or a kill came between its two halves.
				if err := s.DeleteVisualization(ctx, h); err != nil {
					return "", false, err
				}
			}
			return "", false, nil
		},
		Do: func(ctx context.Context) (string, error) {
			made, err := s.AddVisualization(ctx, dataset, v, bodyOf(a, path.Base(a.Name)))
			return made.ConfigID, err
		},
	}
}

// thumbnailStep shows a picture on the model's card. A second picture that nothing shows does no harm, so a kill between
// storing and showing it needs no more than doing it again.
func thumbnailStep(s *clowder.Session, dataset, folder, model string, a results.Artifact) results.Step {
	return results.Step{
		Kind: results.KindThumbnail, Name: a.Name, SHA256: a.SHA256, Size: a.Size,
		Look: func(ctx context.Context, _ results.Entry) (string, bool, error) {
			files, err := s.FolderFiles(ctx, dataset, folder)
			if err != nil {
				return "", false, err
			}
			for _, f := range files {
				if f.ID == model && f.ThumbnailID != "" {
					return f.ThumbnailID, true, nil
				}
			}
			return "", false, nil
		},
		Do: func(ctx context.Context) (string, error) {
			id, err := s.AddThumbnail(ctx, bodyOf(a, path.Base(a.Name)))
			if err != nil {
				return "", err
			}
			return id, s.SetFileThumbnail(ctx, model, id)
		},
	}
}

func metadataStep(s *clowder.Session, dataset string, e Extractor, run string, d Delivery, ids map[string]string) results.Step {
	content := results.Metadata(d.Meta, d.Result)
	for key, file := range map[string]string{"model_file_id": modelArchive, "report_file_id": "report.html"} {
		if ids[file] != "" {
			content[key] = ids[file]
		}
	}
	return results.Step{
		Kind: results.KindMetadata, Name: run,
		Look: func(ctx context.Context, _ results.Entry) (string, bool, error) {
			have, err := s.Metadata(ctx, dataset)
			if err != nil {
				return "", false, err
			}
			for _, m := range have {
				if m.Listener == e.Name() && m.Content["run"] == run {
					return m.ID, true, nil
				}
			}
			return "", false, nil
		},
		Do: func(ctx context.Context) (string, error) {
			return s.AddMetadata(ctx, dataset, clowder.Metadata{
				Content: content, Contexts: []any{results.MetadataContext(e.Name())}, Listener: e.Name(), Version: e.Info.Version,
			})
		},
	}
}

// bodyOf is an artifact as an upload.
func bodyOf(a results.Artifact, name string) clowder.Body {
	return clowder.Body{
		Name: name, ContentType: a.ContentType, Size: a.Size,
		Open: func() (io.ReadCloser, error) { return os.Open(a.Path) },
	}
}

// runFolder is the folder of a run in Clowder as the delivery sees it: artifacts with a folder in their name lie in a folder
// of that name inside.
type runFolder struct {
	session           *clowder.Session
	ledger            *results.Ledger
	dataset, id, full string
	inner             map[string]string // name of an inner folder to its id
}

var _ results.Target = (*runFolder)(nil)

func newRunFolder(s *clowder.Session, l *results.Ledger, dataset, id string, names []string) *runFolder {
	return &runFolder{session: s, ledger: l, dataset: dataset, id: id, full: strings.Join(names, "/"), inner: map[string]string{"": id}}
}

// folder returns the id of the inner folder of an artifact, and makes it if needed.
func (f *runFolder) folder(ctx context.Context, artifact string) (string, error) {
	dir, _ := path.Split(artifact)
	name := strings.TrimSuffix(dir, "/")
	if id, ok := f.inner[name]; ok {
		return id, nil
	}
	id, err := f.ledger.Do(ctx, folderStep(f.session, f.dataset, f.id, f.full+"/"+name, name))
	if err == nil {
		f.inner[name] = id
	}
	return id, err
}

// List returns the files of the folder and of the inner folders that this delivery has used or an earlier one made.
func (f *runFolder) List(ctx context.Context) ([]results.Remote, error) {
	for _, e := range f.ledger.Entries() {
		if name, ok := strings.CutPrefix(e.Name, f.full+"/"); ok && e.Kind == results.KindFolder && e.State == results.StateDone {
			f.inner[name] = e.ID
		}
	}
	var out []results.Remote
	for name, id := range f.inner {
		files, err := f.session.FolderFiles(ctx, f.dataset, id)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			out = append(out, results.Remote{ID: file.ID, Name: path.Join(name, file.Name), Size: file.Size, State: stateOf(file)})
		}
	}
	return out, nil
}

// arrivalLimit is how old an upload may be that has not ended; an older one was cut inside Clowder and never will.
const arrivalLimit = 15 * time.Minute

func stateOf(f clowder.File) results.RemoteState {
	switch {
	case !f.InFlight:
		return results.RemoteComplete
	case time.Since(f.Created) > arrivalLimit:
		return results.RemoteBroken
	default:
		return results.RemoteArriving
	}
}

// Upload adds one artifact.
func (f *runFolder) Upload(ctx context.Context, a results.Artifact) (string, error) {
	folder, err := f.folder(ctx, a.Name)
	if err != nil {
		return "", fmt.Errorf("make the folder of %s: %w", a.Name, err)
	}
	file, err := f.session.Upload(ctx, f.dataset, folder, bodyOf(a, path.Base(a.Name)))
	return file.ID, err
}

// Remove deletes a file that is broken or there twice.
func (f *runFolder) Remove(ctx context.Context, id string) error {
	return f.session.DeleteFile(ctx, id)
}
