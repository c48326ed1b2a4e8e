package script

import (
	"context"
	"fmt"
	"maps"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/script/requirements"
)

// OverlayFolder is the folder of the overlays on the shared volume.
const OverlayFolder = "overlays"

// Preparer decides what scripts may do, and prepares their packages.
type Preparer struct {
	Policy Policy
	// Packages installs requirements files.
	Packages *requirements.Installer
}

// NeedsUser reports whether Allow depends on who the user is.
func (p *Preparer) NeedsUser() bool { return p.Policy.Sandbox == SandboxNone }

// Allow is Policy.Allow. It also returns the settings of the job, without GPU where none is offered.
func (p *Preparer) Allow(r Request) (Spec, map[string]any, error) {
	spec, err := p.Policy.Allow(r)
	if err != nil || spec.GPU {
		return spec, r.Values, err
	}
	values := maps.Clone(r.Values)
	values["use_gpu"] = "no"
	return spec, values, nil
}

// Install installs the packages of the requirements file of a script and adds them to its spec. inputs are the staged files of the dataset,
// which are in folder; say takes sentences for the user. Permanent errors are for the user.
func (p *Preparer) Install(ctx context.Context, spec *Spec, values map[string]any, inputs []job.Input, folder disk.Folder, say func(string)) error {
	in, found, err := RequirementsFile(values, inputs)
	if err != nil {
		return err
	}
	if !found {
		spec.Resolved = true
		return nil
	}
	if in.Size > requirements.MaxFile {
		return job.Permanent(fmt.Errorf("%s is too large for a list of packages: name the right file in Requirements file, or write none there", in.Name))
	}
	doc, err := read(folder, in)
	if err != nil {
		return fmt.Errorf("read %s: %w", in.Name, err)
	}
	if p.Packages.Reads() {
		say("Installing the packages of " + in.Name)
	}
	overlay, err := p.Packages.Install(ctx, doc)
	if err != nil {
		return fmt.Errorf("%s: %w", in.Name, err)
	}
	if overlay.Note != "" {
		say("Note: " + overlay.Note)
	}
	if overlay.Name != "" {
		spec.Overlay, spec.Requirements = OverlayFolder+"/"+overlay.Name, overlay.Packages
	}
	spec.Resolved = p.Packages.Reads()
	return nil
}

// read reads a staged file.
func read(folder disk.Folder, in job.Input) ([]byte, error) {
	root, err := folder.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return disk.ReadFile(root, in.Path, requirements.MaxFile)
}
