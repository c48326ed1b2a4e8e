package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/go-logr/zapr"
	"go.uber.org/zap"
	"k8s.io/klog/v2"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/jobsapi"
	"github.com/ncsa/clowder-ray/internal/rayjob/kuberay"
)

// ray is the backend that the settings choose: RayJobs if KUBERAY_CONFIG is set, or else the Jobs API at RAY_ADDRESS.
type ray struct {
	rayjob.Backend
	// run keeps the backend up to date until its context ends. check returns the findings for doctor.
	run   func(context.Context) error
	check func(context.Context) (string, error)
	// warm lets the machines of a standing Ray get warm processes; nil where runs see to it themselves.
	warm  func(context.Context, rayjob.Attempt)
	close func()
}

// newRay returns the backend of the service with this instance name. Without a name, it cannot list its own attempts.
func newRay(set settings.Settings, instance string, log *zap.Logger) (*ray, error) {
	if set.KubeRayConfig != "" {
		return newKubeRay(set, instance, log)
	}
	cfg := rayConfig(set)
	cfg.Instance = instance
	client, err := jobsapi.New(cfg, log)
	if err != nil {
		return nil, job.Permanent(err)
	}
	return &ray{
		Backend: client, close: client.CloseIdleConnections, warm: client.Warm,
		run: func(ctx context.Context) error { <-ctx.Done(); return nil },
		check: func(ctx context.Context) (string, error) {
			report, err := client.Check(ctx)
			found := fmt.Sprintf("Ray %s at %s: %d nodes, %g CPUs, %g GPUs, %d jobs",
				report.RayVersion, report.Address, report.Nodes, report.CPUs, report.GPUs, report.Jobs)
			return strings.Join(append([]string{found}, report.Warnings...), "; "), err
		},
	}, nil
}

func newKubeRay(set settings.Settings, instance string, log *zap.Logger) (*ray, error) {
	cfg, err := kuberay.ReadConfig(set.KubeRayConfig)
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("KUBERAY_CONFIG: %w", err))
	}
	cfg.Instance, cfg.Owner, cfg.Mount, cfg.PendingLimit = set.KubeRayInstance, instance, set.RaySharedDir, set.PendingTimeout
	cfg.Volume, cfg.ServiceUser = set.SharedDir, int64(os.Getuid())
	access, err := kuberay.Credentials(set.KubeConfig)
	if err != nil {
		return nil, job.Permanent(err)
	}
	klog.SetLogger(zapr.NewLogger(log.Named("kubernetes"))) // the only way to see the warnings of client-go
	client, err := kuberay.New(cfg, access, log)
	if err != nil {
		return nil, job.Permanent(err)
	}
	return &ray{
		Backend: client, run: client.Run, close: func() {},
		check: func(ctx context.Context) (string, error) {
			report, err := client.Check(ctx)
			if err != nil {
				return "", err
			}
			found := fmt.Sprintf("Kubernetes %s at %s, namespace %s: %d RayJobs, profiles %s",
				report.Server, report.Host, report.Namespace, report.Running, strings.Join(cfg.Names(), ", "))
			var errs []error
			for _, fault := range report.Faults {
				errs = append(errs, errors.New(fault))
			}
			return strings.Join(append([]string{found}, report.Warnings...), "; "), errors.Join(errs...)
		},
	}, nil
}

// profiles returns the profiles that the form offers; none without KUBERAY_CONFIG.
func profiles(set settings.Settings) ([]string, error) {
	if set.KubeRayConfig == "" {
		return nil, nil
	}
	cfg, err := kuberay.ReadConfig(set.KubeRayConfig)
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("KUBERAY_CONFIG: %w", err))
	}
	return cfg.Names(), nil
}
