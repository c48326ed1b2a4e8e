package raytest

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

//go:embed program.py
var programSource []byte

// Spec tells the stand-in for the training program what to do. It is written as the spec.json of a run.
type Spec struct {
	// Print is printed. The program then exits with Exit; with Wait it waits until it is stopped and writes a file "stopped".
	Print string `json:"print"`
	Exit  int    `json:"exit"`
	Wait  bool   `json:"wait"`
}

// InstallProgram writes the stand-in for a real Ray into a folder and returns the folder, for Attempt.TrainerPath.
func InstallProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "trainer"), 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "trainer", "__main__.py"), programSource, 0o600))
	return dir
}

// Program is the stand-in for Config.Run: the same program in Go.
func Program(ctx context.Context, d Driver) int {
	path := d.Entrypoint[strings.LastIndexByte(d.Entrypoint, ' ')+1:]
	dir := filepath.Dir(path)
	var spec Spec
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, &spec)
	}
	if err == nil {
		err = recordStart(dir, d)
	}
	if err != nil {
		_, _ = fmt.Fprintln(d.Output, err)
		return 1
	}
	_, _ = io.WriteString(d.Output, spec.Print)
	if !spec.Wait {
		return spec.Exit
	}
	<-ctx.Done()
	if err := os.WriteFile(filepath.Join(dir, "stopped"), nil, 0o600); err != nil {
		return 1
	}
	return 0
}

// recordStart writes the start and the environment into the run folder.
func recordStart(dir string, d Driver) error {
	env, err := json.Marshal(d.Env)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "env.json"), env, 0o600); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "starts"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.WriteString("started\n"); err != nil {
		return err
	}
	return f.Close()
}
