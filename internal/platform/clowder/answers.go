package clowder

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// maxAnswers is how many files get their answer as metadata; the predictions file has all.
	maxAnswers = 10_000
	// answerBatch is how many of them are one effect of the ledger, whose every change is written to disk.
	answerBatch = 100
	// answerStreams is how many of them are on their way at once.
	answerStreams = 8
)

// answerFiles adds to each file what the model says of it, where the user asked for that and files are the examples.
func answerFiles(ctx context.Context, s versions.Session, l *delivery.Ledger, e platform.Extractor, rec job.Record, made *results.Prediction, say func(string)) error {
	if made == nil || !rec.Settings.WritesMetadata() {
		return nil
	}
	answers := slices.DeleteFunc(slices.Clone(made.PerFile), func(a results.FileAnswer) bool { return a.ID == "" })
	if len(answers) == 0 {
		say("Note: predictions are for rows of a table, not for files, so no metadata is added to files")
		return nil
	}
	answers = answers[:min(len(answers), maxAnswers)]
	last := time.Now()
	for first := 0; first < len(answers); first += answerBatch {
		batch := answers[first:min(first+answerBatch, len(answers))]
		if _, err := l.Do(ctx, answersStep(s, e, rec.Run, first, batch)); err != nil {
			return err
		}
		if time.Since(last) >= stageNews {
			last = time.Now()
			say(fmt.Sprintf("Added predictions to %d of %s", first+len(batch), text.Count(len(answers), "file")))
		}
	}
	return nil
}

// answersStep adds the entries of one batch. What an earlier, interrupted try added is found again file by file, so the step
// itself is never found done.
func answersStep(s versions.Session, e platform.Extractor, run string, first int, batch []results.FileAnswer) delivery.Step {
	interrupted := false
	return delivery.Step{
		Kind: delivery.KindMetadata, Name: fmt.Sprintf("%s/files/%d", run, first),
		Look: func(_ context.Context, prior delivery.Entry) (string, bool, error) {
			interrupted = prior.State == delivery.StatePending
			return "", false, nil
		},
		Do: func(ctx context.Context) (string, error) {
			// One that fails does not cut the others off: a request that is cut may still arrive, after the next look.
			var group errgroup.Group
			group.SetLimit(answerStreams)
			for _, a := range batch {
				group.Go(func() error {
					if err := answerFile(ctx, s, e, run, a, interrupted); err != nil {
						return fmt.Errorf("add the prediction to %s: %w", a.File, err)
					}
					return nil
				})
			}
			return run, group.Wait()
		},
	}
}

// answerFile adds one entry to the version of the file that was read; look says that it may be there already, also at another version. A
// file or version that somebody has deleted needs none.
func answerFile(ctx context.Context, s versions.Session, e platform.Extractor, run string, a results.FileAnswer, look bool) error {
	if look {
		_, there, err := s.FindFileMetadata(ctx, a.ID, isOf(e, run))
		if clowder.StatusOf(err) == http.StatusNotFound {
			return nil
		}
		if err != nil || there {
			return err
		}
	}
	content := map[string]any{"run": run, "predicted": a.Predicted}
	if a.Confidence != nil {
		content["confidence"] = *a.Confidence
	}
	for name, said := range map[string]string{"low": a.Low, "high": a.High, "possible": a.Possible} {
		if said != "" {
			content[name] = said
		}
	}
	_, err := s.AddFileMetadata(ctx, a.ID, clowder.Metadata{
		Content: content, Contexts: []any{delivery.MetadataContext(e.Name())}, Listener: e.Name(), Version: e.Info.Version,
		FileVersion: a.Version,
	})
	if clowder.StatusOf(err) == http.StatusNotFound || err != nil && gone(ctx, s, a.ID) {
		return nil
	}
	return err
}

// gone says whether a file is not there any more. v2 shows that only to those who read: adding to it is an error of the server.
func gone(ctx context.Context, s versions.Session, file string) bool {
	_, _, err := s.FindFileMetadata(ctx, file, func(clowder.Metadata) bool { return true })
	return clowder.StatusOf(err) == http.StatusNotFound
}
