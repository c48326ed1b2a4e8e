package clowder

import (
	"context"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/options"
	"github.com/ncsa/clowder-ray/internal/platform/ignore"
)

// The reasons why an automatic run has nothing to do.
const (
	notAsked  = "The dataset asks for no automatic runs: add a finetune.yaml with the line automatic: predict to have new files predicted"
	noNews    = "None of the new files is there any more"
	noNewData = "The new files are settings, results, or files that .clowderignore leaves out, which are not predicted"
)

// News looks into the dataset of an automatic run, and reads its settings file before any of the data.
func (c *Platform) News(ctx context.Context, rec job.Record, dir disk.Folder) ([]job.Announced, string, error) {
	s, err := c.session(rec)
	if err != nil {
		return nil, "", err
	}
	files, err := s.Files(ctx, rec.Request.DatasetID)
	if err != nil {
		return nil, "", err
	}
	asked, err := asksForRuns(ctx, s, files, dir)
	if err != nil {
		return nil, "", err
	}
	if !asked {
		return nil, notAsked, nil
	}
	ignored, err := ignoredOf(ctx, s, files, dir)
	if err != nil {
		return nil, "", err
	}
	news, others := newsAmong(files, rec.Request.Announced, ignored)
	switch {
	case len(news) > 0:
		return news, "", nil
	case others:
		return nil, noNewData, nil
	default:
		return nil, noNews, nil
	}
}

// asksForRuns reads in the settings file of a dataset, if it has one, whether new files are to be predicted. dir takes the file.
func asksForRuns(ctx context.Context, s versions.Session, files []clowder.File, dir disk.Folder) (bool, error) {
	var settings *clowder.File
	results := resultsAmong(files)
	for i, f := range files {
		if options.IsSettings(f.Path) && !results.hold(f) && (settings == nil || options.Better(f.Path, settings.Path)) {
			settings = &files[i]
		}
	}
	if settings == nil {
		return false, nil
	}
	doc, err := readFile(ctx, s, *settings, dir, options.MaxBytes)
	if err != nil {
		return false, err
	}
	asked, err := options.Automatic(settings.Path, string(doc))
	if err != nil {
		return false, job.Permanent(err)
	}
	return asked, nil
}

// newsAmong returns those of the files that were announced and are data, each once. others says that some that are no data were announced, too.
func newsAmong(files []clowder.File, announced []job.Announced, ignored *ignore.Files) (news []job.Announced, others bool) {
	ids, names, results := map[string]string{}, map[string]string{}, resultsAmong(files)
	for _, a := range announced {
		if a.File != "" {
			ids[a.File] = a.JobID
		} else {
			names[a.Name] = a.JobID
		}
	}
	for _, f := range files {
		by, known := ids[f.ID]
		if !known {
			by, known = names[f.Name]
		}
		if !known {
			continue
		}
		if results.hold(f) || options.IsSettings(f.Path) || isIgnored(ignored, f) {
			others = true
			continue
		}
		news = append(news, job.Announced{File: f.ID, JobID: by})
	}
	return news, others
}
