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

// state is what a folder stores about its Ray. The token is in a separate file, so that settings can point to it.
type state struct {
	Address string `json:"address"`
	// Mark is in the environment of every process of this Ray.
	Mark string `json:"mark"`
	// Temp is the folder of Ray's sockets and logs. It is elsewhere because the path of a socket is limited to 107 bytes.
	Temp string `json:"temp"`
	// Detached says that the Ray keeps running after the program that started it.
	Detached bool `json:"detached"`
}

// ErrNotRunning is returned by Find if no Ray runs for the folder.
var ErrNotRunning = errors.New("no local Ray is running")

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

// replace replaces a file as a whole, so that a reader never sees half of it.
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

// readState returns ErrNotRunning if there is no state. It rejects a mark or a folder that this package did not write, since
// they select the processes that are ended and the files that are removed.
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
		return state{}, "", fmt.Errorf("%s is not the state of a local Ray: remove the file or choose another folder", statePath(dir))
	}
	token, err := os.ReadFile(tokenPath(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, "", fmt.Errorf("read the token of the local Ray: %w", err)
	}
	return s, job.Secret(token), nil
}

// forget removes all files of a stopped Ray except its log.
func (s state) forget(dir string) error {
	return errors.Join(os.RemoveAll(s.Temp), remove(tokenPath(dir)), remove(statePath(dir)))
}

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
