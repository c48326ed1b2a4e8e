// Package volume knows the layout of the shared volume, and reads and writes the files of the service in it.
package volume

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/ncsa/clowder-ray/internal/disk"
)

// Volume is the shared volume, seen from here and seen from Ray.
//
//	cache/    downloaded file bodies, shared by runs
//	models/   installed base models
//	registry/ the models that trainings made, in versions
//	trainer/  the training program, by digest
//	runs/     one folder for each run: spec.json, inputs/, events.jsonl, out/, result.json …
//	overlays/ Python packages for scripts of users, by digest
//	deliver/  one folder for each run that is being delivered: what its user gets
type Volume struct {
	// Dir is the path here, RayDir the path in the pods of Ray.
	Dir, RayDir string
	// Barrier makes the files durable that several jobs write at the same time. If it is nil, each job syncs its own.
	Barrier *disk.Barrier
}

// Run is the folder of a run. The training of that run can write anything there at any moment.
func (v Volume) Run(run string) disk.Folder { return v.folder("runs").In(run) }

// RayRun is the folder of a run as Ray sees it.
func (v Volume) RayRun(run string) string { return path.Join(v.RayDir, "runs", run) }

// Inputs is the folder with the staged files of a run.
func (v Volume) Inputs(run string) disk.Folder { return v.Run(run).In("inputs") }

// Deliverables is the folder with the files that a run delivers. The training cannot reach it, so it cannot replace them.
func (v Volume) Deliverables(run string) disk.Folder { return v.folder("deliver").In(run) }

// Cache is the folder of file bodies by content.
func (v Volume) Cache() disk.Folder { return v.folder("cache") }

// Overlays is the folder of the packages that scripts of users need beside those of the image.
func (v Volume) Overlays() disk.Folder { return v.folder("overlays") }

// Registry is the folder of the models that trainings made.
func (v Volume) Registry() disk.Folder { return v.folder("registry") }

func (v Volume) folder(name string) disk.Folder { return disk.Folder{Volume: v.Dir, Name: name} }

// RemoveRun removes everything that a run left on the volume except its model in the registry.
func (v Volume) RemoveRun(run string) error {
	return errors.Join(v.folder("runs").Remove(run), v.folder("deliver").Remove(run))
}

// BaseModels is the folder of installed base models.
func (v Volume) BaseModels() disk.Folder { return v.folder("models") }

// Models names the installed base models as <org>/<name>, sorted. Hidden folders hold no models.
func (v Volume) Models() ([]string, error) {
	configs, err := filepath.Glob(filepath.Join(v.Dir, "models", "*", "*", "config.json"))
	if err != nil {
		return nil, fmt.Errorf("list the installed models: %w", err)
	}
	models := make([]string, 0, len(configs))
	for _, c := range configs {
		dir := filepath.Dir(c)
		if org := filepath.Base(filepath.Dir(dir)); !strings.HasPrefix(org, ".") {
			models = append(models, org+"/"+filepath.Base(dir))
		}
	}
	return models, nil
}
