package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/ncsa/clowder-ray/internal/job"
)

// Volume is the shared volume, seen from here and seen from Ray.
//
//	cache/    downloaded file bodies, shared by runs
//	models/   installed base models
//	registry/ the models that trainings made, in versions
//	trainer/  the training program, by digest
//	runs/     one folder for each run: spec.json, inputs/, events.jsonl, out/, result.json …
type Volume struct {
	// Dir is the path here, RayDir the path in the pods of Ray.
	Dir, RayDir string
}

// sharedMode is the mode of folders on the volume: the pods of Ray may run as another user of the same group.
const sharedMode = 0o775

// Runs is the folder of the run folders.
func (v Volume) Runs() string { return filepath.Join(v.Dir, "runs") }

// Run is the folder of a run.
func (v Volume) Run(run string) string { return filepath.Join(v.Runs(), run) }

// RayRun is the folder of a run as Ray sees it.
func (v Volume) RayRun(run string) string { return path.Join(v.RayDir, "runs", run) }

// Inputs is the folder with the staged files of a run.
func (v Volume) Inputs(run string) string { return filepath.Join(v.Run(run), "inputs") }

// Cache is the folder of file bodies by content.
func (v Volume) Cache() string { return filepath.Join(v.Dir, "cache") }

// Registry is the folder of the models that trainings made.
func (v Volume) Registry() string { return filepath.Join(v.Dir, "registry") }

// Logs are the files of what a run printed: the driver's, then one for each worker that has printed something.
func (v Volume) Logs(run string) []string {
	workers, _ := filepath.Glob(filepath.Join(v.Run(run), "logs", "rank-*.txt")) // the pattern is well formed
	return append([]string{filepath.Join(v.Run(run), "log.txt")}, workers...)
}

// Models names the installed base models as <org>/<name>, in order. A volume without any has none.
func (v Volume) Models() ([]string, error) {
	configs, err := filepath.Glob(filepath.Join(v.Dir, "models", "*", "*", "config.json"))
	if err != nil {
		return nil, fmt.Errorf("list the installed models: %w", err)
	}
	models := make([]string, 0, len(configs))
	for _, c := range configs {
		dir := filepath.Dir(c)
		models = append(models, filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir))
	}
	return models, nil
}

// manifest lists what was staged. It lies beside the inputs folder, where no file of a dataset can take its name, and is
// written last.
const manifest = "inputs.json"

func (v Volume) writeManifest(run string, inputs []job.Input) error {
	return writeJSON(filepath.Join(v.Run(run), manifest), inputs)
}

func (v Volume) readManifest(run string) ([]job.Input, error) {
	doc, err := os.ReadFile(filepath.Join(v.Run(run), manifest))
	if err != nil {
		return nil, fmt.Errorf("read the list of staged files: %w", err)
	}
	var inputs []job.Input
	if err := json.Unmarshal(doc, &inputs); err != nil {
		return nil, fmt.Errorf("decode the list of staged files: %w", err)
	}
	return inputs, nil
}

// writeJSON writes v to path so that a reader sees all of it or nothing, also after a crash.
func writeJSON(path string, v any) error {
	doc, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(path), err)
	}
	return writeFile(path, append(doc, '\n'))
}

func writeFile(path string, doc []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".part-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	_, err = f.Write(doc)
	err = errors.Join(err, f.Chmod(fs.FileMode(0o644)), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}
