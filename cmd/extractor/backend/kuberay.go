//go:build !nokubernetes

package backend

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
	"github.com/ncsa/clowder-ray/internal/rayjob/kuberay"
)

func newKubeRay(set settings.Settings, instance string, log *zap.Logger) (*Ray, error) {
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
	return &Ray{
		Backend: client, Run: client.Run, Close: func() {},
		Check: func(ctx context.Context) (string, error) {
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

// Profiles returns the profiles that the form offers; none without KUBERAY_CONFIG.
func Profiles(set settings.Settings) ([]string, error) {
	if set.KubeRayConfig == "" {
		return nil, nil
	}
	cfg, err := kuberay.ReadConfig(set.KubeRayConfig)
	if err != nil {
		return nil, job.Permanent(fmt.Errorf("KUBERAY_CONFIG: %w", err))
	}
	return cfg.Names(), nil
}
