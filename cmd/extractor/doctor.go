package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/basemodel"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/queue"
	"github.com/ncsa/clowder-ray/internal/retention"
	"github.com/ncsa/clowder-ray/internal/text"
)

// checkTimeout is the time limit of one check.
const checkTimeout = 30 * time.Second

// doctorCommand checks everything that the service needs and says what to fix. It changes nothing.
func (p *program) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check RabbitMQ, Clowder, Ray, the shared volume, the forms, the sandbox of scripts and the studio, and say what to fix", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := p.settings(cmd)
			if err != nil {
				return err
			}
			failed := 0
			for _, check := range checks(set) {
				ctx, cancel := context.WithTimeout(cmd.Context(), checkTimeout)
				found, err := check.look(ctx)
				cancel()
				mark := "ok  "
				if err != nil {
					mark, found = "FAIL", strings.ReplaceAll(err.Error(), "\n", "\n                      ")
					failed++
				}
				_, _ = fmt.Fprintf(p.stdout, "%s  %-14s  %s\n", mark, check.name, found)
			}
			if failed > 0 {
				return fmt.Errorf("%s failed", text.Count(failed, "check"))
			}
			return nil
		},
	}
}

// check examines one thing and returns its findings. Its error says what to fix.
type check struct {
	name string
	look func(context.Context) (string, error)
}

func checks(set settings.Settings) []check {
	volume := volume.Volume{Dir: set.SharedDir, RayDir: set.RaySharedDir}
	all, infoErr := extractors(set, volume)
	return []check{
		{"extractor_info", func(context.Context) (string, error) {
			if infoErr != nil {
				return "", infoErr
			}
			var found []string
			for _, e := range all {
				found = append(found, fmt.Sprintf("%s %s, queue %s", e.Info.Name, e.Info.Version, e.Queue))
			}
			return strings.Join(found, "; "), nil
		}},
		{"broker", func(ctx context.Context) (string, error) {
			if infoErr != nil {
				return "", errors.New("not checked: fix extractor_info first, which names the queues")
			}
			var found []string
			for _, e := range all {
				report, err := queue.Check(ctx, brokerConfig(set, e), heartbeats)
				if err != nil {
					return "", err
				}
				found = append(found, report)
			}
			return strings.Join(found, "; "), nil
		}},
		{"Clowder", func(ctx context.Context) (string, error) { return checkClowder(ctx, set) }},
		{"Ray", func(ctx context.Context) (string, error) {
			backend, err := newRay(set, "", zap.NewNop())
			if err != nil {
				return "", err
			}
			defer backend.close()
			return backend.check(ctx)
		}},
		{"shared volume", func(context.Context) (string, error) {
			return checkWritable("SHARED_DIR", set.SharedDir, set.MinFreeBytes)
		}},
		{"job store", func(ctx context.Context) (string, error) { return checkStore(ctx, set) }},
		{"scripts", func(ctx context.Context) (string, error) {
			return set.Scripts.Doctor(ctx, localPython(set), set.KubeRayConfig != "")
		}},
		{"studio", func(ctx context.Context) (string, error) { return set.Studio.Doctor(ctx, set.ClowderCA) }},
		{"models", func(context.Context) (string, error) { return checkModels(volume.BaseModels()) }},
	}
}

// checkModels says which base models can be used for what, and what to do about the others.
func checkModels(folder disk.Folder) (string, error) {
	all, err := basemodel.New(folder).List()
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "none in " + folder.Path() + "; the image of Ray may bring one: extractor models install ORG/NAME adds others", nil
	}
	found := make([]string, len(all))
	for i, one := range all {
		switch {
		case errors.Is(one.Fault, fs.ErrNotExist):
			found[i] = one.ID + " (copied by hand: extractor models install checks and completes it)"
		case one.Fault != nil:
			found[i] = fmt.Sprintf("%s (%v: install it again)", one.ID, one.Fault)
		case one.Model.Default:
			found[i] = fmt.Sprintf("%s (%s, the default)", one.ID, one.Model.Kind)
		default:
			found[i] = fmt.Sprintf("%s (%s)", one.ID, one.Model.Kind)
		}
	}
	return strings.Join(found, ", "), nil
}

// checkClowder uses no key and no cache, so it changes nothing on the shared volume.
func checkClowder(ctx context.Context, set settings.Settings) (string, error) {
	if set.ClowderURL == "" && set.Clowder1URL == "" && len(set.ClowderHosts) == 0 {
		return "", errors.New("set CLOWDER_URL to the address of Clowder as seen from this machine (CLOWDER1_URL for a v1 beside it), or CLOWDER_HOSTS to the Clowder hosts that messages may name")
	}
	client, err := clowderClient(set, disk.Folder{}, zap.NewNop())
	if err != nil {
		return "", err
	}
	found, err := client.Check(ctx, versions.Abouts())
	return strings.Join(found, "; "), errors.Join(err, client.Close())
}

// checkWritable checks that dir is writable and its disk has enough free space for new jobs.
func checkWritable(name, dir string, need int64) (string, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", fmt.Errorf("%s: %w: create the folder, or set %s to a folder that this user can write", name, err, name)
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return "", fmt.Errorf("%s: %w: give this user write access", name, err)
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	found := dir + " is writable"
	free, known := disk.Free(dir)
	switch {
	case !known:
		return found, nil
	case free < need:
		return "", retention.TooFull(name, dir, free, need)
	default:
		return found + ", " + text.Bytes(free) + " free", nil
	}
}

func checkStore(ctx context.Context, set settings.Settings) (string, error) {
	if _, err := checkWritable("STATE_DIR", set.StateDir, set.MinFreeBytes); err != nil {
		return "", err
	}
	store, err := openStore(ctx, set)
	if err != nil {
		return "", fmt.Errorf("STATE_DIR: %w", err)
	}
	active, err := store.List(ctx, job.Query{Active: true})
	return fmt.Sprintf("%s, %s", set.StorePath(), text.Count(len(active), "active job")), errors.Join(err, store.Close())
}
