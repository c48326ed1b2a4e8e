package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ncsa/clowder-ray/cmd/extractor/machine"
	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/rayjob/raylocal"
)

// rayCommand starts and stops a local Ray for development. It keeps running after the command has ended.
func (p *program) rayCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "ray", Short: "Start or stop a local Ray for development", Args: cobra.NoArgs}
	cmd.PersistentFlags().String("dir", "", "folder of the local Ray; empty means STATE_DIR/ray")
	up := &cobra.Command{
		Use: "up", Short: "Start the local Ray, unless it runs, and print the settings to use it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, dir, err := p.rayDir(cmd)
			if err != nil {
				return err
			}
			local, err := raylocal.Start(cmd.Context(), raylocal.Config{Python: localPython(set), Dir: dir, Env: p.modelsOfMachine(), Detached: true})
			if err != nil {
				return fmt.Errorf("%w\n%s", err, machine.Remedy)
			}
			_, err = fmt.Fprintf(p.stdout, "export RAY_ADDRESS='%s'\nexport RAY_AUTH_TOKEN_PATH='%s'\n", local.Address, local.TokenFile)
			return err
		},
	}
	down := &cobra.Command{
		Use: "down", Short: "Stop the local Ray", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, dir, err := p.rayDir(cmd)
			if err != nil {
				return err
			}
			return raylocal.Stop(dir)
		},
	}
	cmd.AddCommand(up, down)
	return cmd
}

func (p *program) rayDir(cmd *cobra.Command) (settings.Settings, string, error) {
	set, err := p.settings(cmd)
	if err != nil {
		return set, "", err
	}
	dir, _ := cmd.Flags().GetString("dir")
	if dir == "" {
		dir = filepath.Join(set.StateDir, "ray")
	}
	return set, dir, nil
}

// baseModels is the variable with the folder of the models that come with the machine or the image. The trainer reads it on Ray.
const baseModels = "BASE_MODELS"

// modelsOfMachine is BASE_MODELS for trainings on this machine, which see its models as those on a cluster see the models of their image.
func (p *program) modelsOfMachine() []string {
	models := p.getenv(baseModels)
	if models == "" {
		return nil
	}
	if abs, err := filepath.Abs(models); err == nil { // trainings run in other folders
		models = abs
	}
	return []string{baseModels + "=" + models}
}

// localPython returns the interpreter for trainings on this machine: the one that RAY_PYTHON names, or else the newest one that make has
// installed in the cache, or else the default of RAY_PYTHON.
func localPython(set settings.Settings) string {
	if set.RayPython != settings.DefaultPython {
		return set.RayPython
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return set.RayPython
	}
	newest, at := set.RayPython, time.Time{}
	markers, _ := filepath.Glob(filepath.Join(cache, "clowder-ray", "venv-*", "core")) // the pattern is valid
	for _, marker := range markers {
		python := filepath.Join(filepath.Dir(marker), "bin", "python")
		info, err := os.Stat(marker)
		if _, missing := exec.LookPath(python); err == nil && missing == nil && info.ModTime().After(at) {
			newest, at = python, info.ModTime()
		}
	}
	return newest
}
