package main

import (
	"context"
	"fmt"
	"strings"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/jobsapi"
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
