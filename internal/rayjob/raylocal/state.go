package raylocal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/ncsa/clowder-ray/internal/job"
)

// state is what a folder remembers of its Ray. The token lies in a file of its own, so that others may be pointed at it.
type state struct {
	Address string `json:"address"`
	// Mark is in the environment of every process of this Ray.
	Mark string `json:"mark"`
	// Temp is the folder of Ray's sockets and logs. It lies apart because the path of a socket is limited to 107 bytes.
	Temp string `json:"temp"`
	// Detached says that the Ray outlives its starter.
	Detached bool `json:"detached"`
}

// ErrNotRunning is returned by Find where no Ray runs for the folder.
var ErrNotRunning = errors.New("no local Ray runs here")

var (
	markForm = regexp.MustCompile(`^[0-9a-f]{32}$`)
	tempForm = regexp.MustCompile(`/clray-[0-9]+$`)
)

func statePath(dir string) string { return filepath.Join(dir, "ray.json") }
func tokenPath(dir string) string { return filepath.Join(dir, "token") }
func logPath(dir string) string   { return filepath.Join(dir, "ray.log") }

// write stores the state and the token for the owner only.
func (s state) write(dir string, token job.Secret) error {
	doc, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := replace(tokenPath(dir), []byte(token.Reveal())); err != nil {
		return err
	}
	return replace(statePath(dir), doc)
}

// replace puts a whole file in the place of another one, so that a reader never meets half of it.
func replace(path string, content []byte) error {
	tmp := path + ".new"
	if err := os.WriteFile(tmp, content, 0o600); err != nil {
		return fmt.Errorf("write the state of the local Ray: %w", err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("write the state of the local Ray: %w", err)
	}
	return nil
}

// readState returns ErrNotRunning where there is none. A mark or a folder that this package did not write is refused,
// because processes are ended and files removed by them.
func readState(dir string) (state, job.Secret, error) {
	var s state
	doc, err := os.ReadFile(statePath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return s, "", ErrNotRunning
	}
	if err != nil {
		return s, "", fmt.Errorf("read the state of the local Ray: %w", err)
	}
	if err := json.Unmarshal(doc, &s); err != nil {
		return s, "", fmt.Errorf("read the state of the local Ray in %s: %w", statePath(dir), err)
	}
	if !markForm.MatchString(s.Mark) || !tempForm.MatchString(s.Temp) {
		return state{}, "", fmt.Errorf("%s is not the state of a local Ray", statePath(dir))
	}
	token, err := os.ReadFile(tokenPath(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, "", fmt.Errorf("read the token of the local Ray: %w", err)
	}
	return s, job.Secret(token), nil
}

// forget removes what a stopped Ray left behind, except its log.
func (s state) forget(dir string) error {
	return errors.Join(os.RemoveAll(s.Temp), remove(tokenPath(dir)), remove(statePath(dir)))
}

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
