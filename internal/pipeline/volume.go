package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
)

// Volume is the shared volume, seen from here and seen from Ray.
//
//	cache/    downloaded file bodies, shared by runs
//	models/   installed base models
//	registry/ the models that trainings made, in versions
//	trainer/  the training program, by digest
//	runs/     one folder for each run: spec.json, inputs/, events.jsonl, out/, result.json …
//	deliver/  one folder for each run that is being handed over: what its user gets
type Volume struct {
	// Dir is the path here, RayDir the path in the pods of Ray.
	Dir, RayDir string
}

// Run is the folder of a run. The training of that run writes there whatever it likes, at any moment.
func (v Volume) Run(run string) disk.Folder { return v.folder("runs").In(run) }

// RayRun is the folder of a run as Ray sees it.
func (v Volume) RayRun(run string) string { return path.Join(v.RayDir, "runs", run) }

// Inputs is the folder with the staged files of a run.
func (v Volume) Inputs(run string) disk.Folder { return v.Run(run).In("inputs") }

// Deliverables is the folder with the files that a run hands over. It is out of reach of the training, which could put others in
// their place.
func (v Volume) Deliverables(run string) disk.Folder { return v.folder("deliver").In(run) }

// Cache is the folder of file bodies by content.
func (v Volume) Cache() disk.Folder { return v.folder("cache") }

// Registry is the folder of the models that trainings made.
func (v Volume) Registry() disk.Folder { return v.folder("registry") }

func (v Volume) folder(name string) disk.Folder { return disk.Folder{Volume: v.Dir, Name: name} }

// RemoveRun removes all that a run has left on the volume, but for its model in the registry.
func (v Volume) RemoveRun(run string) error {
	return errors.Join(v.folder("runs").Remove(run), v.folder("deliver").Remove(run))
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

const (
	// manifest lists what was staged. It lies beside the inputs folder, where no file of a dataset can take its name, and is
	// written last.
	inputsFile = "inputs.json"
	// maxManifest is more than a list of a hundred thousand files.
	maxManifest = 64 << 20
)

// writeManifest writes the list of the staged files and returns the sha256 that readManifest wants to see.
func (v Volume) writeManifest(run string, inputs []job.Input) (sum string, err error) {
	doc, err := encode(inputsFile, inputs)
	if err != nil {
		return "", err
	}
	return digest(doc), v.write(run, inputsFile, doc)
}

// readManifest reads the list of the staged files, as the service itself has written it: the training may have written another.
// A job that was staged by an older version has no sum.
func (v Volume) readManifest(rec job.Record) ([]job.Input, error) {
	doc, err := v.read(rec.Run, inputsFile, maxManifest)
	if err != nil {
		return nil, fmt.Errorf("read the list of staged files: %w", err)
	}
	if rec.InputsSHA256 != "" && digest(doc) != rec.InputsSHA256 {
		return nil, job.Permanent(errors.New("the list of the staged files was changed by another program: submit again, and tell the operator of the extractor"))
	}
	var inputs []job.Input
	if err := json.Unmarshal(doc, &inputs); err != nil {
		return nil, fmt.Errorf("decode the list of staged files: %w", err)
	}
	return inputs, nil
}

// writeJSON writes v to a file of a run folder so that a reader sees all of it or nothing, also after a crash.
func (v Volume) writeJSON(run, name string, value any) error {
	doc, err := encode(name, value)
	if err != nil {
		return err
	}
	return v.write(run, name, doc)
}

func (v Volume) write(run, name string, doc []byte) error {
	root, err := v.Run(run).Open()
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() { _ = root.Close() }()
	if err := disk.WriteFile(root, name, doc); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// read reads a file of a run folder of at most limit bytes.
func (v Volume) read(run, name string, limit int64) ([]byte, error) {
	root, err := v.Run(run).Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return disk.ReadFile(root, name, limit)
}

func encode(name string, value any) ([]byte, error) {
	doc, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", name, err)
	}
	return append(doc, '\n'), nil
}

func digest(doc []byte) string {
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:])
}
