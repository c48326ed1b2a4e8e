package clowder

import (
	"context"
	"strings"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform/ignore"
	"github.com/ncsa/clowder-ray/internal/platform/settingsfile"
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
	asked, err := optionsOf(ctx, s, files, dir)
	if err != nil {
		return nil, "", err
	}
	if !asked.Predict {
		return nil, notAsked, nil
	}
	ignored, err := ignoredOf(ctx, s, files, dir)
	if err != nil {
		return nil, "", err
	}
	news, found := newsAmong(files, rec.Request.Announced, ignored)
	switch {
	case len(news) > 0:
		return news, "", nil
	case found:
		return nil, noNewData, nil
	default:
		return nil, noNews, nil
	}
}

// optionsOf reads the settings file of a dataset, if it has one. dir takes the file.
func optionsOf(ctx context.Context, s versions.Session, files []clowder.File, dir disk.Folder) (settingsfile.Options, error) {
	var settings *clowder.File
	for i, f := range files {
		if settingsfile.Is(f.Path) && !isResult(f) && (settings == nil || settingsfile.Better(f.Path, settings.Path)) {
			settings = &files[i]
		}
	}
	if settings == nil {
		return settingsfile.Options{}, nil
	}
	doc, err := readFile(ctx, s, *settings, dir, settingsfile.MaxBytes)
	if err != nil {
		return settingsfile.Options{}, err
	}
	return settingsfile.Parse(settings.Path, doc)
}

// newsAmong returns those of the files that were announced and are data, each once. found says that some that are no data were announced, too.
func newsAmong(files []clowder.File, announced []job.Announced, ignored *ignore.Files) (news []job.Announced, found bool) {
	ids, names := map[string]string{}, map[string]string{}
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
		if isResult(f) || settingsfile.Is(f.Path) || isIgnored(ignored, f) {
			found = true
			continue
		}
		news = append(news, job.Announced{File: f.ID, JobID: by})
	}
	return news, found
}

// isResult reports whether a file is among the results of a run.
func isResult(f clowder.File) bool { return strings.HasPrefix(f.Path, resultsRoot+"/") }
