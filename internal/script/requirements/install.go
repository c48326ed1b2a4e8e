package requirements

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/text"
)

// What is installed of a requirements file.
const (
	// Off installs nothing: scripts have the packages of the image.
	Off = "off"
	// AllowList installs packages that the administrator lists, and what they need.
	AllowList = "allow-list"
	// Index installs every package of the index.
	Index = "index"
)

// Config says what may be installed, from where, and how much.
type Config struct {
	// Mode is Off, AllowList or Index.
	Mode string
	// IndexURL is the address of the package index. It may contain a password.
	IndexURL job.Secret
	// Allowed are the packages of AllowList; their versions hold for all packages.
	Allowed []Line
	// Image has the version of each package of the image of Ray by its name.
	Image map[string]string
	// Python is an interpreter with uv on this machine, of the version on Ray.
	Python string
	// MostPackages, MostBytes and Timeout bound one installation.
	MostPackages int
	MostBytes    int64
	Timeout      time.Duration
}

// Installer installs packages into overlays. It is safe for concurrent use, also by several processes.
type Installer struct {
	cfg    Config
	folder disk.Folder
}

// Overlay is a folder with installed packages.
type Overlay struct {
	// Name is the name of the folder below the folder of the installer; empty if the image has everything.
	Name string
	// Packages are the packages in it, as name==version.
	Packages []string
	// Note is a sentence for the user about packages that were not installed; empty for none.
	Note string
}

// New returns an installer whose overlays are in folder.
func New(cfg Config, folder disk.Folder) *Installer { return &Installer{cfg: cfg, folder: folder} }

// Reads reports whether the installer reads requirements files at all.
func (i *Installer) Reads() bool { return i.cfg.Mode != Off }

// making begins the names of overlays that are not complete.
const making = ".making-"

// Install makes the packages of a requirements file available and returns their overlay, which is complete and used a moment ago. Permanent
// errors are for the user; others may go away. With the mode Off it installs nothing and says what the image lacks.
func (i *Installer) Install(ctx context.Context, doc []byte) (Overlay, error) {
	if i.cfg.Mode == Off {
		return Overlay{Note: i.compare(doc)}, nil
	}
	lines, err := Parse(doc)
	if err != nil {
		return Overlay{}, err
	}
	if err := i.allowed(lines); err != nil {
		return Overlay{}, err
	}
	if len(lines) == 0 {
		return Overlay{}, nil
	}
	root, err := i.folder.Make()
	if err != nil {
		return Overlay{}, fmt.Errorf("make the folder of packages: %w", err)
	}
	defer func() { _ = root.Close() }()
	name := fmt.Sprintf("%s%016x", making, rand.Uint64()) //nolint:gosec // a name, not a secret
	if err := root.Mkdir(name, 0o755); err != nil {
		return Overlay{}, fmt.Errorf("make the folder of packages: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, i.cfg.Timeout)
	defer cancel()
	overlay, err := i.install(limited, root, name, lines)
	if limited.Err() != nil && ctx.Err() == nil {
		err = job.Permanent(fmt.Errorf("the packages of the requirements file were not installed within %s: name fewer packages", text.About(i.cfg.Timeout)))
	}
	return overlay, errors.Join(err, root.RemoveAll(name))
}

// install resolves and installs in the folder name, which is private to this call.
func (i *Installer) install(ctx context.Context, root *os.Root, name string, lines []Line) (Overlay, error) {
	w := &work{cfg: i.cfg, dir: filepath.Join(i.folder.Path(), name), lines: lines}
	found, err := w.resolve(ctx)
	if err != nil || len(found) == 0 {
		return Overlay{}, err
	}
	if len(found) > i.cfg.MostPackages {
		return Overlay{}, job.Permanent(fmt.Errorf("the requirements file needs %d packages, the limit is %d: name fewer packages", len(found), i.cfg.MostPackages))
	}
	overlay := Overlay{Packages: versions(found)}
	if overlay.Name, err = w.name(ctx, found); err != nil {
		return Overlay{}, err
	}
	if touch(root, overlay.Name) {
		return overlay, nil
	}
	if err := w.install(ctx, found); err != nil {
		return Overlay{}, err
	}
	if err := seal(root, filepath.Join(name, site)); err != nil {
		return Overlay{}, fmt.Errorf("complete the folder of packages: %w", err)
	}
	crash.At(crash.Packed)
	err = root.Rename(filepath.Join(name, site), overlay.Name)
	if err != nil && !touch(root, overlay.Name) { // another process has made the same
		return Overlay{}, fmt.Errorf("complete the folder of packages: %w", err)
	}
	return overlay, disk.SyncFolder(root, ".")
}

// allowed refuses packages that the administrator does not list.
func (i *Installer) allowed(lines []Line) error {
	if i.cfg.Mode != AllowList {
		return nil
	}
	known := map[string]bool{}
	for _, line := range i.cfg.Allowed {
		known[line.Name] = true
	}
	var faults []string
	for _, line := range lines {
		if _, has := i.cfg.Image[line.Name]; !has && !known[line.Name] && len(faults) < mostFaults {
			faults = append(faults, fmt.Sprintf("%s (line %d)", line.Name, line.Number))
		}
	}
	if len(faults) == 0 {
		return nil
	}
	return job.Permanent(fmt.Errorf("the administrator does not allow these packages of the requirements file: %s. Remove them, or ask the "+
		"administrator to add them to the list", strings.Join(faults, ", ")))
}

// compare says how the image differs from a requirements file that is not installed.
func (i *Installer) compare(doc []byte) string {
	lines, _ := parse(doc)
	var differs []string
	for _, line := range lines {
		version, has := i.cfg.Image[line.Name]
		switch exact, pinned := strings.CutPrefix(line.Version, "=="); {
		case !has:
			differs = append(differs, line.Name+" is missing")
		case pinned && exact != version:
			differs = append(differs, fmt.Sprintf("%s is %s instead of %s", line.Name, version, exact))
		}
	}
	if len(differs) == 0 {
		return ""
	}
	more := ""
	if len(differs) > mostFaults {
		differs, more = differs[:mostFaults], ", and more"
	}
	return "The requirements file is not installed here, the script has the packages of the administrator: " + strings.Join(differs, ", ") + more
}

// touch marks an overlay as used now and reports whether it exists.
func touch(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	return err == nil && info.IsDir() && root.Chtimes(name, time.Now(), time.Now()) == nil
}

// seal removes what could run outside of a script, and opens the rest for reading: Ray runs as another user.
func seal(root *os.Root, dir string) error {
	return fs.WalkDir(root.FS(), filepath.ToSlash(dir), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case startsItself(d.Name()) && d.IsDir():
			if err := root.RemoveAll(path); err != nil {
				return err
			}
			return fs.SkipDir
		case d.IsDir():
			return root.Chmod(path, 0o755)
		case !d.Type().IsRegular() || startsItself(d.Name()):
			return root.Remove(path)
		default:
			return root.Chmod(path, 0o444)
		}
	})
}

// startsItself reports whether Python runs what has this name without an import. A module may be a file of several endings or a folder.
func startsItself(name string) bool {
	module, _, _ := strings.Cut(name, ".")
	return strings.HasSuffix(name, ".pth") || module == "sitecustomize" || module == "usercustomize"
}
