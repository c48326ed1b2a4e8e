package requirements

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

const (
	// site is the folder of the installed packages in the folder of an installation.
	site = "site"
	// sizeEvery is the time between two looks at the size of an installation.
	sizeEvery = time.Second
)

// work is one installation in a folder of its own.
type work struct {
	cfg   Config
	dir   string
	lines []Line
}

// pin is a package with its version and the hashes of its wheels.
type pin struct {
	name, version string
	hashes        []string
}

// resolve returns the packages that the lines need and the image does not have.
func (w *work) resolve(ctx context.Context) ([]pin, error) {
	protected := map[string]string{}
	for name, version := range w.cfg.Image {
		if isProtected(name) {
			protected[name] = version
		}
	}
	if err := w.writeInputs(protected); err != nil {
		return nil, fmt.Errorf("prepare the resolution of the requirements: %w", err)
	}
	if err := w.checkProtected(ctx, protected); err != nil {
		return nil, err
	}
	output, err := w.uv(ctx, "pip", "compile", "in.txt", "--constraints", "constraints.txt", "--output-file", "lock.txt", "--find-links", stubFolder,
		"--python", w.cfg.Python, "--generate-hashes", "--no-header", "--no-annotate", "--no-build")
	if err != nil {
		return nil, explain(err, output, w.lines, w.cfg.Image)
	}
	lock, err := os.ReadFile(filepath.Join(w.dir, "lock.txt"))
	if err != nil {
		return nil, fmt.Errorf("read the resolved requirements: %w", err)
	}
	pins := readLock(string(lock))
	return slices.DeleteFunc(pins, func(p pin) bool { return w.cfg.Image[p.name] == p.version }), nil
}

// writeInputs writes what uv reads: the lines, what they may not change, and the image as the preferred versions.
func (w *work) writeInputs(protected map[string]string) error {
	var lines, constraints []string
	for _, line := range w.lines {
		lines = append(lines, line.Text)
	}
	for _, name := range slices.Sorted(maps.Keys(protected)) {
		constraints = append(constraints, name+"=="+protected[name])
	}
	if w.cfg.Mode == AllowList {
		for _, line := range w.cfg.Allowed {
			if line.Version != "" {
				constraints = append(constraints, line.Name+line.Version)
			}
		}
	}
	var image []string
	for _, name := range slices.Sorted(maps.Keys(w.cfg.Image)) {
		image = append(image, name+"=="+w.cfg.Image[name])
	}
	for name, content := range map[string][]string{"in.txt": lines, "constraints.txt": constraints, "lock.txt": image} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(strings.Join(content, "\n")+"\n"), 0o600); err != nil {
			return err
		}
	}
	return writeStubs(filepath.Join(w.dir, stubFolder), protected)
}

// checkProtected refuses lines that want another version of a protected package. It asks uv, without the index, about each of them.
func (w *work) checkProtected(ctx context.Context, protected map[string]string) error {
	for _, line := range w.lines {
		version, has := protected[line.Name]
		if !has || line.Version == "" {
			continue
		}
		one := filepath.Join(w.dir, "one.txt")
		if err := os.WriteFile(one, []byte(line.Text+"\n"), 0o600); err != nil {
			return err
		}
		output, err := w.uv(ctx, "pip", "compile", "one.txt", "--no-index", "--find-links", stubFolder, "--python", w.cfg.Python, "--no-header")
		if err != nil && strings.Contains(output, "No solution found") {
			return job.Permanent(fmt.Errorf("line %d of the requirements file asks for %s, and scripts run with %s %s here: remove the version, "+
				"or ask the administrator for another image", line.Number, line.Text, line.Name, version))
		}
		if err != nil {
			return explain(err, output, w.lines, w.cfg.Image)
		}
	}
	return nil
}

// install puts the packages into the folder site, and ends it when they are too large.
func (w *work) install(ctx context.Context, found []pin) error {
	var delta strings.Builder
	for _, p := range found {
		_, _ = fmt.Fprintf(&delta, "%s==%s %s\n", p.name, p.version, strings.Join(p.hashes, " "))
	}
	if err := os.WriteFile(filepath.Join(w.dir, "delta.txt"), []byte(delta.String()), 0o600); err != nil {
		return err
	}
	guarded, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		w.watchSize(guarded, cancel)
	}()
	output, err := w.uv(guarded, "pip", "install", "--requirements", "delta.txt", "--target", site, "--python", w.cfg.Python, "--no-deps", "--no-build",
		"--require-hashes", "--link-mode", "copy", "--compile-bytecode")
	if err == nil && w.size() > w.cfg.MostBytes {
		cancel(w.tooLarge())
	}
	cause := context.Cause(guarded)
	cancel(nil)
	<-watched
	if cause != nil && ctx.Err() == nil {
		return cause
	}
	if err != nil {
		return explain(err, output, w.lines, w.cfg.Image)
	}
	return nil
}

// watchSize ends the installation when its folder is larger than the packages may be.
func (w *work) watchSize(ctx context.Context, end context.CancelCauseFunc) {
	ticker := time.NewTicker(sizeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if w.size() > w.cfg.MostBytes {
				end(w.tooLarge())
				return
			}
		}
	}
}

func (w *work) tooLarge() error {
	return job.Permanent(fmt.Errorf("the packages of the requirements file are larger than %s: name fewer or smaller packages", text.Bytes(w.cfg.MostBytes)))
}

// size is the size of the folder site in bytes.
func (w *work) size() (total int64) {
	_ = filepath.WalkDir(filepath.Join(w.dir, site), func(_ string, d os.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // a file that was just renamed
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	return total
}

// name is the name of the overlay: a digest of the packages and of the Python that they are for.
func (w *work) name(ctx context.Context, found []pin) (string, error) {
	platform, err := w.python(ctx, "-c", "import sys, sysconfig; print(sys.version_info[:2], sysconfig.get_platform())")
	if err != nil {
		return "", fmt.Errorf("SCRIPT_PYTHON: ask for its version: %w", err)
	}
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "overlay 1\n%s\n", strings.TrimSpace(platform))
	for _, p := range found {
		_, _ = fmt.Fprintf(sum, "%s==%s %s\n", p.name, p.version, strings.Join(p.hashes, " "))
	}
	return hex.EncodeToString(sum.Sum(nil))[:32], nil
}

// readLock reads the lock file that uv wrote.
func readLock(lock string) []pin {
	var pins []pin
	for line := range strings.Lines(lock) {
		line = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), `\`))
		if hash, ok := strings.CutPrefix(line, "--hash="); ok && len(pins) > 0 {
			pins[len(pins)-1].hashes = append(pins[len(pins)-1].hashes, "--hash="+hash)
			continue
		}
		line, _, _ = strings.Cut(line, ";")
		if name, version, ok := strings.Cut(strings.TrimSpace(line), "=="); ok && !strings.HasPrefix(line, "#") {
			name, _, _ = strings.Cut(name, "[")
			pins = append(pins, pin{name: Normal(name), version: version})
		}
	}
	return pins
}

func versions(pins []pin) []string {
	all := make([]string, len(pins))
	for i, p := range pins {
		all[i] = p.name + "==" + p.version
	}
	return all
}
