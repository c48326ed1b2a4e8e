package delivery

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report"
)

// StoredModel is a model that lies outside the folder of the run that made it, such as one of the registry.
type StoredModel struct {
	// Dir holds Files, whose paths are relative to it.
	Dir   disk.Folder
	Files []results.Output
	// Ref is what people call the model, for example reviews/3; Run made it, at Made.
	Ref, Run string
	Made     time.Time
	// Snippet names the lines of Python that load it: see results.Usage.
	Snippet string
	// Facts is what else is known of it: version.json of the archive.
	Facts json.RawMessage
}

// Folder is the folder inside a dataset that takes the model when run, which began at the given time, puts it there.
func (m StoredModel) Folder(run string, at time.Time) []string {
	return folder(at, "export-"+slug(m.Ref, 40), run)
}

// Build makes model.zip in the folder to, as the Build of a run makes its own files.
func (m StoredModel) Build(ctx context.Context, to disk.Folder) ([]Artifact, error) {
	return build(ctx, to, m, nil, []deliverable{{
		Artifact{
			Name: "model.zip", ContentType: typeZip,
			Title:       "Model",
			Description: "The model " + m.Ref + ", made by run " + m.Run + ", with instructions to load it.",
		},
		func(w io.Writer) error { return m.Write(ctx, w) },
	}})
}

// Write writes model.zip: the model in a folder model/, beside it how to load it and what is known of it. A file that is not
// the one that was registered is an error.
func (m StoredModel) Write(ctx context.Context, w io.Writer) error {
	root, err := m.Dir.Open()
	if err != nil {
		return results.DiskError(fmt.Errorf("open the folder of the model %s: %w", m.Ref, err))
	}
	defer func() { _ = root.Close() }()
	var facts bytes.Buffer
	if err := json.Indent(&facts, m.Facts, "", "  "); err != nil {
		return fmt.Errorf("write what is known of the model %s: %w", m.Ref, err)
	}
	guide := report.Guide(m.Snippet, nil) +
		"\n`version.json` says what the model was made from and what it scores. The folder of run " + m.Run +
		" in its dataset holds the report and the model card.\n"
	z := newArchive(w, m.Made)
	if err := z.addTexts(textFile{"README.md", guide}, textFile{"version.json", facts.String() + "\n"}); err != nil {
		return err
	}
	return z.finish(ctx, root, m.Files, "", "model/")
}
