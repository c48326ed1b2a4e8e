package scripts

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/script"
	"github.com/ncsa/clowder-ray/internal/script/requirements"
	"github.com/ncsa/clowder-ray/internal/text"
	"github.com/ncsa/clowder-ray/trainer"
)

// sandbox is what the trainer says about a sandbox on a machine.
type sandbox struct {
	Name, Version string
	// Refused says why it does not hold; empty for one that does.
	Refused string
}

// Doctor says which sandbox holds scripts, and whether packages can be installed. It tries the sandboxes on this machine with the
// interpreter python, unless scripts have pods of their own. It changes nothing.
func (s *Settings) Doctor(ctx context.Context, python string, pods bool) (string, error) {
	found := []string{"each script has pods of its own, see Ray above; on a standing cluster the sandbox of the machine holds it"}
	if !pods {
		found = []string{s.sandboxes(ctx, python)}
	}
	if s.Sandbox == script.SandboxNone {
		found = append(found, fmt.Sprintf("WARNING: the code of %s runs without a sandbox and may do everything that Ray may: %s",
			text.Count(len(s.TrustedUsers), "trusted user"), strings.Join(s.TrustedUsers, ", ")))
	}
	packages, err := s.Installer(ctx, python)
	return strings.Join(append(found, packages), "; "), err
}

// sandboxes tries the sandboxes for users who are not trusted. What it finds is no failure of the service: Ray may run on other machines.
func (s *Settings) sandboxes(ctx context.Context, python string) string {
	allowed := s.Sandbox
	if allowed == script.SandboxNone {
		allowed = script.SandboxAuto
	}
	interpreter, err := requirements.Interpreter(python)
	if err != nil {
		return "no sandbox was tried, because this machine has no Python of Ray. Each script tries the sandbox of its machine before it starts"
	}
	all, err := survey(ctx, interpreter, allowed)
	if err != nil {
		return err.Error()
	}
	var refused []string
	for _, one := range all {
		if one.Refused == "" {
			return fmt.Sprintf("%s %s holds scripts on this machine", one.Name, one.Version)
		}
		refused = append(refused, one.Refused)
	}
	return "WARNING: no sandbox holds scripts on this machine. If Ray runs here, scripts are refused: install bubblewrap (apt-get install bubblewrap). " +
		strings.Join(refused, " ")
}

// survey asks the trainer of this program, in a temporary folder.
func survey(ctx context.Context, python, allowed string) (all []sandbox, err error) {
	dir, err := os.MkdirTemp("", "clowder-ray-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path, _, err := trainer.Install(disk.Folder{Volume: dir, Name: "trainer"})
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, python, "-m", "trainer", "sandbox", allowed)
	cmd.Dir, cmd.Env = dir, []string{"PYTHONPATH=" + path, "PYTHONDONTWRITEBYTECODE=1", "PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	var failed bytes.Buffer
	cmd.Stderr = &failed
	doc, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(doc, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("try the sandboxes with %s: %w: %s", filepath.Base(python), err, text.Excerpt(failed.String(), 300))
	}
	return all, nil
}

// Installer says what happens with requirements.txt. The error is permanent: uv is needed for it and is not there.
func (s *Settings) Installer(ctx context.Context, python string) (string, error) {
	if s.Requirements == requirements.Off {
		return "requirements.txt is not installed (SCRIPT_REQUIREMENTS)", nil
	}
	version, err := requirements.Version(ctx, cmp.Or(s.Python, python))
	if err != nil {
		return "", job.Permanent(fmt.Errorf("SCRIPT_PYTHON: %w: set it to a Python on this machine that has uv; the image with packages brings one", err))
	}
	return fmt.Sprintf("requirements.txt is installed by %s (%s)", version, s.Requirements), nil
}
