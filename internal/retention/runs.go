package retention

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// maxRuns bounds how many run folders one sweep looks at. The others have their turn when some of these are gone.
const maxRuns = 100_000

// tidyRuns looks at every run folder. It leaves folders of other services and of active runs alone.
func (c *Cleaner) tidyRuns(ctx context.Context) error {
	var faults []error
	for _, folder := range []disk.Folder{c.cfg.Runs, c.cfg.Deliverables} {
		entries, err := list(folder)
		faults = append(faults, err)
		for _, e := range entries {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if e.IsDir() {
				faults = append(faults, c.tidyRun(ctx, e.Name()))
			}
		}
	}
	return errors.Join(faults...)
}

// list returns what is in a folder of the volume; one that is not there holds nothing.
func list(folder disk.Folder) ([]fs.DirEntry, error) {
	root, err := folder.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the folder %s: %w", folder.Name, err)
	}
	defer func() { _ = root.Close() }()
	return disk.List(root, ".", maxRuns)
}

func (c *Cleaner) tidyRun(ctx context.Context, run string) error {
	release, held := c.jobs.Lock(run)
	if !held {
		return nil
	}
	defer release()
	rec, err := c.store.Get(ctx, run)
	switch age := time.Since(rec.Updated); {
	case errors.Is(err, job.ErrNotFound):
		return nil
	case err != nil:
		return err
	case rec.Active():
		return nil
	case c.cfg.RunFolders > 0 && age > c.cfg.RunFolders:
		c.log.Info("removing the folder of an old run", zap.String("run", run))
		return errors.Join(c.cfg.Runs.Remove(run), c.cfg.Deliverables.Remove(run))
	case c.mayGoOn(rec, age):
		return nil
	default:
		return errors.Join(trim(c.cfg.Runs.In(run)), c.cfg.Deliverables.Remove(run))
	}
}

// mayGoOn reports whether the job may still be retried, so that its checkpoints are of use.
func (c *Cleaner) mayGoOn(rec job.Record, age time.Duration) bool {
	switch rec.State {
	case job.Failed:
		return rec.SecretKey != ""
	case job.Cancelled:
		return c.cfg.Keys > 0 && age < c.cfg.Keys
	default:
		return false
	}
}

// keptFolders are the folders of a run that tell how it went. The other folders hold most of the bytes: staged files (their list
// stays), checkpoints, and delivered files.
var keptFolders = map[string]bool{"logs": true, "tensorboard": true, outFolder: true}

// outFolder keeps its files, such as the metrics, and not its folders, such as the model, which is in the registry by now.
const outFolder = "out"

// maxEntries bounds how many entries of a folder one sweep looks at, since a program of a user has filled it. The next sweep sees more.
const maxEntries = 10_000

// trim removes everything from a run folder that does not tell how the run went. It follows no link, because programs of users have
// written into the folder.
func trim(dir disk.Folder) error {
	root, err := dir.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return errors.Join(
		removeFrom(root, ".", func(e fs.DirEntry) bool { return !keptFolders[e.Name()] }),
		removeFrom(root, outFolder, func(fs.DirEntry) bool { return true }),
	)
}

// removeFrom removes the wanted folders below dir, and half-written files.
func removeFrom(root *os.Root, dir string, wanted func(fs.DirEntry) bool) error {
	entries, err := disk.List(root, dir, maxEntries)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, disk.ErrNotAllowed) {
		return nil // a file or a link, which takes no room
	}
	if err != nil {
		return err
	}
	var faults []error
	for _, e := range entries {
		if e.IsDir() && wanted(e) || halfWritten(e) {
			faults = append(faults, root.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(faults...)
}

// halfWritten reports whether a file is one that is renamed when it is complete, as the service and the trainer name them.
func halfWritten(e fs.DirEntry) bool {
	name := e.Name()
	return e.Type().IsRegular() && (strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".part"))
}
