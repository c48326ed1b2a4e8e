package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ncsa/clowder-ray/internal/rayjob/raylocal"
)

// rayCommand keeps a Ray of one's own on this machine, for trying things out. It outlives the service.
func (p *program) rayCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "ray", Short: "Start and stop a local Ray on loopback", Args: cobra.NoArgs}
	cmd.PersistentFlags().String("dir", "", "folder of the local Ray; empty is STATE_DIR/ray")
	up := &cobra.Command{
		Use: "up", Short: "Start a local Ray with token auth, or find it running; prints how to reach it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, dir, err := p.rayDir(cmd)
			if err != nil {
				return err
			}
			local, err := raylocal.Start(cmd.Context(), raylocal.Config{Python: set.RayPython, Dir: dir, Detached: true})
			if err != nil {
				return err
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

func (p *program) rayDir(cmd *cobra.Command) (Settings, string, error) {
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
