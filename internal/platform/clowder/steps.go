package clowder

import (
	"context"
	"maps"
	"path"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
)

func folderStep(s versions.Session, dataset, parent, full, name string) delivery.Step {
	return delivery.Step{
		Kind: delivery.KindFolder, Name: full,
		Look: func(ctx context.Context, _ delivery.Entry) (string, bool, error) {
			id, err := s.FindFolder(ctx, dataset, parent, name)
			return id, id != "", err
		},
		Do: func(ctx context.Context) (string, error) { return s.AddFolder(ctx, dataset, parent, name) },
	}
}

// isShown reports whether an artifact is shown besides being a file. A Clowder with cards shows it on the dataset. Any other
// shows pages and texts by themselves, and a picture only as the preview of a file.
func isShown(s versions.Session, a delivery.Artifact) bool {
	if _, ok := s.(cards); ok {
		return a.Show.OnCard()
	}
	return strings.HasPrefix(a.ContentType, "image/")
}

// previewStep shows a picture on the page of its own file. The file is the run's, so the name alone identifies the preview.
func previewStep(s previews, file, extractor string, a delivery.Artifact) delivery.Step {
	name := path.Base(a.Name)
	return delivery.Step{
		Kind: delivery.KindVisualization, Name: a.Name, SHA256: a.SHA256, Size: a.Size,
		Look: func(ctx context.Context, _ delivery.Entry) (string, bool, error) {
			have, err := s.Previews(ctx, file)
			if err != nil {
				return "", false, err
			}
			for _, p := range have {
				if p.Name == name {
					return p.ID, true, nil
				}
			}
			return "", false, nil
		},
		Do: func(ctx context.Context) (string, error) { return s.AddPreview(ctx, file, extractor, bodyOf(a, name)) },
	}
}

func visualizationStep(s cards, dataset, extractor, run string, a delivery.Artifact) delivery.Step {
	v := clowder.Visualization{
		Client: extractor, MimeType: a.ContentType, Parameters: map[string]any{"run": run, "artifact": a.Name},
		Name: a.Title, Description: a.Description,
	}
	switch a.Show {
	case delivery.ShowImage, delivery.ShowPicture:
		v.Component = clowder.ComponentImage
	case delivery.ShowHTML:
		v.Component = clowder.ComponentHTML
	case delivery.ShowVega, delivery.ShowThumbnail, delivery.ShowNone:
		v.Component = clowder.ComponentVega
	}
	return delivery.Step{
		Kind: delivery.KindVisualization, Name: a.Name, SHA256: a.SHA256, Size: a.Size,
		Look: func(ctx context.Context, prior delivery.Entry) (string, bool, error) {
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
func thumbnailStep(s versions.Session, dataset, folder, model string, a delivery.Artifact) delivery.Step {
	return delivery.Step{
		Kind: delivery.KindThumbnail, Name: a.Name, SHA256: a.SHA256, Size: a.Size,
		Look: func(ctx context.Context, _ delivery.Entry) (string, bool, error) {
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

// metadataStep adds one entry about a run to the dataset.
func metadataStep(s versions.Session, dataset string, e platform.Extractor, run string, content map[string]any) delivery.Step {
	return entryStep(delivery.Step{Name: run}, e, run, content,
		func(ctx context.Context, match func(clowder.Metadata) bool) (clowder.Metadata, bool, error) {
			return s.FindMetadata(ctx, dataset, match)
		},
		func(ctx context.Context, m clowder.Metadata) (string, error) { return s.AddMetadata(ctx, dataset, m) })
}

// modelStep adds the same to the file of the model, with its sha256, so that the page of the file says what it is.
func modelStep(s versions.Session, file string, e platform.Extractor, run string, content map[string]any, a delivery.Artifact) delivery.Step {
	content = maps.Clone(content)
	content["sha256"] = a.SHA256
	return entryStep(delivery.Step{Name: run + "/" + a.Name, SHA256: a.SHA256}, e, run, content,
		func(ctx context.Context, match func(clowder.Metadata) bool) (clowder.Metadata, bool, error) {
			return s.FindFileMetadata(ctx, file, match)
		},
		func(ctx context.Context, m clowder.Metadata) (string, error) { return s.AddFileMetadata(ctx, file, m) })
}

// entryStep completes a step that adds one metadata entry, which is found again by its extractor and its run.
func entryStep(step delivery.Step, e platform.Extractor, run string, content map[string]any,
	find func(context.Context, func(clowder.Metadata) bool) (clowder.Metadata, bool, error), add func(context.Context, clowder.Metadata) (string, error),
) delivery.Step {
	step.Kind = delivery.KindMetadata
	step.Look = func(ctx context.Context, _ delivery.Entry) (string, bool, error) {
		m, there, err := find(ctx, isOf(e, run))
		return m.ID, there, err
	}
	step.Do = func(ctx context.Context) (string, error) {
		return add(ctx, clowder.Metadata{
			Content: content, Contexts: []any{delivery.MetadataContext(e.Name())}, Listener: e.Name(), Version: e.Info.Version,
		})
	}
	return step
}

// isOf returns whether an entry is what an extractor says of a run.
func isOf(e platform.Extractor, run string) func(clowder.Metadata) bool {
	return func(m clowder.Metadata) bool { return m.Listener == e.Name() && m.Content["run"] == run }
}

// bodyOf is an artifact as an upload.
func bodyOf(a delivery.Artifact, name string) clowder.Body {
	return clowder.Body{
		Name: name, ContentType: a.ContentType, Size: a.Size,
		Open: a.Open,
	}
}
