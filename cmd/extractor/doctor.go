package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/cmd/extractor/backend"
	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/basemodel"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/platform"
	clowderplatform "github.com/ncsa/clowder-ray/internal/platform/clowder"
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
				if errors.Is(err, syscall.ECONNREFUSED) {
					return "", fmt.Errorf("%w: start RabbitMQ, or set RABBITMQ_URI to the address of Clowder's broker", err)
				}
				if err != nil {
					return "", err
				}
				found = append(found, report)
			}
			return strings.Join(found, "; "), nil
		}},
		{"Clowder", func(ctx context.Context) (string, error) { return checkClowder(ctx, set) }},
		{"registration", func(ctx context.Context) (string, error) {
			if infoErr != nil {
				return "", errors.New("not checked: fix extractor_info first, which names the extractors")
			}
			return checkRegistration(ctx, set, all)
		}},
		{"Ray", func(ctx context.Context) (string, error) {
			ray, err := backend.New(set, "", zap.NewNop())
			if err != nil {
				return "", err
			}
			defer ray.Close()
			return ray.Check(ctx)
		}},
		{"Python", func(context.Context) (string, error) { return checkPython(set) }},
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

// checkRegistration looks at how Clowder lists the extractors, and whether it reads statuses. Clowder tells only users, so it asks with the keys
// of those whose jobs are on.
func checkRegistration(ctx context.Context, set settings.Settings, all platform.Extractors) (string, error) {
	users, err := knownUsers(ctx, set)
	if err != nil {
		return "", err
	}
	if len(users) == 0 {
		return "not checked: Clowder shows extractors to users only, and no user has an active job. Look at its page of extractors", nil
	}
	client, err := clowderClient(set, disk.Folder{}, zap.NewNop())
	if err != nil {
		return "", err
	}
	defer func() { _ = client.Close() }()
	clowders, replies := map[string]error{}, map[string]bool{}
	for _, rec := range users {
		if rec.Request.ReplyTo != "" {
			replies[rec.Request.ReplyTo] = true
		}
		host := rec.Request.Host
		if fault, looked := clowders[host]; looked && fault == nil {
			continue
		}
		var wrong []string
		if wrong, clowders[host] = clowderplatform.New(client, all).Registered(ctx, rec); len(wrong) > 0 {
			return "", errors.New(strings.Join(wrong, "\n"))
		}
	}
	if err := errors.Join(slices.Collect(maps.Values(clowders))...); err != nil {
		if kind, _ := job.Classify(err); kind == job.KindPermanent { // the keys of these jobs are no longer valid
			return "not checked: " + err.Error(), nil
		}
		return "", err
	}
	unread, err := queue.Unread(ctx, brokerConfig(set, all[0]), slices.Sorted(maps.Keys(replies)))
	if err != nil {
		return "", err
	}
	if len(unread) > 0 {
		return "", fmt.Errorf("nobody reads the statuses in %s: start the message listener of Clowder, which then shows them", strings.Join(unread, ", "))
	}
	return text.Count(len(all), "extractor") + " listed and enabled in " + text.Count(len(clowders), "Clowder"), nil
}

// knownUsers returns a job of each user of each Clowder whose key is known.
func knownUsers(ctx context.Context, set settings.Settings) ([]job.Record, error) {
	store, err := openStore(ctx, set)
	if err != nil {
		return nil, fmt.Errorf("STATE_DIR: %w", err)
	}
	all, err := store.List(ctx, job.Query{WithKey: true})
	type user struct{ host, owner, reply string }
	known := map[user]bool{}
	all = slices.DeleteFunc(all, func(rec job.Record) bool {
		u := user{rec.Request.Host, rec.Owner, rec.Request.ReplyTo}
		defer func() { known[u] = true }()
		return known[u]
	})
	return all, errors.Join(err, store.Close())
}
