package clowder

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
)

// resultsRoot is the folder of a dataset that holds the folders of all runs; see resultFolders.
const resultsRoot = "finetune"

// Plan lists everything that Deliver may do.
func (c *Platform) Plan(rec job.Record, d platform.Delivery) (json.RawMessage, error) {
	s, err := c.session(rec)
	if err != nil {
		return nil, err
	}
	var notes json.RawMessage
	ledger, err := delivery.OpenLedger(nil, func(doc json.RawMessage) error { notes = doc; return nil })
	if err != nil {
		return nil, err
	}
	return notes, ledger.Plan(effects(s, d.Folders, rec.Run, d.Artifacts))
}

// Deliver is deliver, and says what becomes of the results where the key or the right of the user has gone meanwhile.
func (c *Platform) Deliver(ctx context.Context, rec job.Record, d platform.Delivery, l platform.LedgerFile, say func(string)) (string, error) {
	where, err := c.deliver(ctx, rec, d, l, say)
	return where, kept(rec, err)
}

// kept adds to the refusal of a delivery what its user can do. A run that is retried goes on with the key of who retries it.
func kept(rec job.Record, err error) error {
	if rec.Kind == job.Runs {
		return err
	}
	switch clowder.StatusOf(err) {
	case http.StatusUnauthorized:
		return job.Permanent(fmt.Errorf("the key of this job was revoked or has expired (401). Nothing is lost: retry %s with ncsa.ray.runs, which takes your new key, or on its page in the studio (%w)", rec.Run, err))
	case http.StatusForbidden:
		return job.Permanent(fmt.Errorf("you lost the right to add files to the dataset (403). Nothing is lost: ask its owner for the right, then retry %s with ncsa.ray.runs, or on its page in the studio (%w)", rec.Run, err))
	default:
		return err
	}
}

// deliver puts the artifacts into a folder of the run and shows them: pictures and pages on the dataset, a picture on the model, and a
// metadata entry on both. Each of these is one step of the ledger. What needs the id of a file comes after all files were seen complete.
func (c *Platform) deliver(ctx context.Context, rec job.Record, d platform.Delivery, l platform.LedgerFile, say func(string)) (string, error) {
	s, err := c.session(rec)
	if err != nil {
		return "", err
	}
	ledger, err := delivery.OpenLedger(l.Saved, l.Save)
	if err != nil {
		return "", err
	}
	extractor := c.extractors.Of(rec.Request)
	dataset, folders := rec.Request.DatasetID, d.Folders
	if err := ledger.Plan(effects(s, folders, rec.Run, d.Artifacts)); err != nil {
		return "", err
	}
	begins, parent := len(l.Saved) == 0 || l.New, ""
	for i := range folders {
		if parent, err = ledger.Do(ctx, folderStep(s, dataset, parent, strings.Join(folders[:i+1], "/"), folders[i])); err != nil {
			return "", err
		}
		if begins && ledger.Made(delivery.KindFolder, strings.Join(folders[:i+1], "/")) {
			ledger.Fresh() // everything else that is delivered comes after the folders
		}
	}
	folder := c.runFolder(s, ledger, dataset, parent, folders)
	ids, err := delivery.Deliver(ctx, ledger, folder, d.Artifacts, cardSteps(s, dataset, extractor, rec.Run, d)...)
	if err != nil {
		return "", err
	}
	refused := &refusedPictures{crashes: c.Abilities(rec.Request).RefusesWith500}
	steps := append(fileSteps(s, dataset, parent, ids, extractor, rec.Run, d, refused), metadataStep(s, dataset, extractor, rec.Run, described(d, ids)))
	if _, err := ledger.DoAll(ctx, steps); err != nil {
		return "", err
	}
	refused.tell(say)
	if err := answerFiles(ctx, s, ledger, extractor, rec, d.Prediction, say); err != nil {
		return "", err
	}
	notes, err := ledger.Encode()
	if err != nil {
		return "", err
	}
	l.Last(notes)
	noteHidden(ctx, s, dataset, folder.creator(ids[d.Artifacts[0].Name]), say)
	return "Results in folder " + strings.Join(folders, "/"), nil
}

// cardSteps are the steps that show artifacts on the dataset. They need no uploaded file.
func cardSteps(s versions.Session, dataset string, e platform.Extractor, run string, d platform.Delivery) []delivery.Step {
	on, ok := s.(cards)
	if !ok {
		return nil
	}
	var steps []delivery.Step
	for _, a := range d.Artifacts {
		if isShown(s, a) {
			steps = append(steps, visualizationStep(on, dataset, e.Name(), run, a))
		}
	}
	return steps
}

// fileSteps are the steps that add something to the artifacts, which are uploaded as the files with these ids. Pictures that Clowder does not
// show are added to refused.
func fileSteps(s versions.Session, dataset, folder string, ids map[string]string, e platform.Extractor, run string, d platform.Delivery, refused *refusedPictures) []delivery.Step {
	var steps []delivery.Step
	for _, a := range d.Artifacts {
		if on, ok := s.(previews); ok && isShown(s, a) {
			steps = append(steps, refused.spare(previewStep(on, ids[a.Name], e.Name(), a)))
		}
		if a.Show.OnModel() && ids[modelArchive] != "" {
			steps = append(steps, refused.spare(thumbnailStep(s, dataset, folder, ids[modelArchive], a)))
		}
		if a.Name == modelArchive {
			steps = append(steps, modelStep(s, ids[modelArchive], e, run, d.Content, a))
		}
	}
	return steps
}

// Note adds one metadata entry to the dataset. The content names the run of rec, by which it is found again.
func (c *Platform) Note(ctx context.Context, rec job.Record, content map[string]any, l platform.LedgerFile) error {
	s, err := c.session(rec)
	if err != nil {
		return err
	}
	ledger, err := delivery.OpenLedger(l.Saved, l.Save)
	if err != nil {
		return err
	}
	_, err = ledger.Do(ctx, metadataStep(s, rec.Request.DatasetID, c.extractors.Of(rec.Request), rec.Run, content))
	return err
}

// effects lists what Deliver is about to do: all but the answers to single files, which can be very many.
func effects(s versions.Session, folders []string, run string, artifacts []delivery.Artifact) []delivery.Entry {
	var list []delivery.Entry
	for i := range folders {
		list = append(list, delivery.Entry{Kind: delivery.KindFolder, Name: strings.Join(folders[:i+1], "/")})
	}
	add := func(kind string, a delivery.Artifact) {
		list = append(list, delivery.Entry{Kind: kind, Name: a.Name, SHA256: a.SHA256, Size: a.Size})
	}
	for _, a := range artifacts {
		add(delivery.KindFile, a)
		if isShown(s, a) {
			add(delivery.KindVisualization, a)
		}
		if a.Show.OnModel() {
			add(delivery.KindThumbnail, a)
		}
		if a.Name == modelArchive {
			list = append(list, delivery.Entry{Kind: delivery.KindMetadata, Name: run + "/" + a.Name, SHA256: a.SHA256})
		}
	}
	return append(list, delivery.Entry{Kind: delivery.KindMetadata, Name: run})
}

// noteHidden tells collaborators what Clowder v2 does not: the owner of a private dataset does not see files that others add. by is who
// added the files of the run, empty if Clowder does not say. If the lookup fails, only the note is missing.
func noteHidden(ctx context.Context, s versions.Session, dataset, by string, say func(string)) {
	if by == "" {
		return
	}
	if d, err := s.Dataset(ctx, dataset); err == nil && d.Status == "PRIVATE" && d.Creator.Email != by {
		say("Note: this dataset is private, and Clowder does not show your new files to its owner")
	}
}

// modelArchive is the artifact that holds the model.
const modelArchive = "model.zip"

// described is what the metadata of the dataset says of a delivery, with the files that hold the model and the report.
func described(d platform.Delivery, ids map[string]string) map[string]any {
	content := maps.Clone(d.Content)
	for key, file := range map[string]string{"model_file_id": modelArchive, "report_file_id": "report.html"} {
		if ids[file] != "" {
			content[key] = ids[file]
		}
	}
	return content
}
