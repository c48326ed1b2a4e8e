package clowder

import (
	"context"
	"fmt"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform/ignore"
	"github.com/ncsa/clowder-ray/internal/text"
)

// whyBarred ends the sentence about a file that its licence keeps from a job.
const whyBarred = "its licence forbids the download"

// checkLicence ends a job before its download where the licence of its smallest file forbids it: most often all files have the licence of the
// installation. Others are found when they are downloaded. Files that may lie in a mounted folder are not asked for.
func checkLicence(ctx context.Context, s versions.Session, files []clowder.File) error {
	of, ok := s.(barrier)
	smallest := -1
	for i, f := range files {
		if f.Size > 0 && f.Stored == "" && (smallest < 0 || f.Size < files[smallest].Size) {
			smallest = i
		}
	}
	if !ok || smallest < 0 {
		return nil
	}
	if err := of.MayDownload(ctx, files[smallest]); clowder.IsBarred(err) {
		return barred(files[smallest : smallest+1])
	}
	return nil // what else is wrong shows in the download
}

// barred is the error of a job whose files may not be downloaded.
func barred(files []clowder.File) error {
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.Path
	}
	return job.Permanent(fmt.Errorf("the licence of %s forbids the download: ask its owner to allow it in Clowder, or leave it out by a line in a file %s, then submit again", text.ListSome(names, 3, 80), ignore.Name))
}

// noteLicence says that the licence which the owner has written for the dataset has ended. Clowder forbids nothing then, so the job goes on.
func noteLicence(ctx context.Context, s versions.Session, of clowder.Dataset, say func(string)) error {
	from, ok := s.(licensor)
	if !ok {
		return nil
	}
	licence, err := from.Licence(ctx, of)
	if err != nil {
		return passing(err)
	}
	if !licence.Ends.IsZero() && licence.Ends.Before(time.Now()) {
		say(fmt.Sprintf("Note: the licence %s of the dataset ended on %s: ask %s whether you may still use the data", text.Excerpt(licence.Name, 60), licence.Ends.Format(time.DateOnly), ownerOf(of)))
	}
	return nil
}
