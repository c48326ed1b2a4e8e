// Package backend makes the Ray that the settings choose: RayJobs on Kubernetes, or the Jobs API of a cluster.
package backend

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

// Ray is the backend that the settings choose: RayJobs if KUBERAY_CONFIG is set, or else the Jobs API at RAY_ADDRESS.
type Ray struct {
	rayjob.Backend
	// Run keeps the backend up to date until its context ends. Check returns the findings for doctor.
	Run   func(context.Context) error
	Check func(context.Context) (string, error)
	// Warm lets the machines of a standing Ray get warm processes; nil where runs see to it themselves.
	Warm  func(context.Context, rayjob.Attempt)
	Close func()
}

// New returns the backend of the service with this instance name. Without a name, it cannot list its own attempts.
func New(set settings.Settings, instance string, log *zap.Logger) (*Ray, error) {
	if set.KubeRayConfig != "" {
		return newKubeRay(set, instance, log)
	}
	cfg := JobsAPI(set)
	cfg.Instance = instance
	client, err := jobsapi.New(cfg, log)
	if err != nil {
		return nil, job.Permanent(err)
	}
	return &Ray{
		Backend: client, Close: client.CloseIdleConnections, Warm: client.Warm,
		Run: func(ctx context.Context) error { <-ctx.Done(); return nil },
		Check: func(ctx context.Context) (string, error) {
			report, err := client.Check(ctx)
			found := fmt.Sprintf("Ray %s at %s: %d nodes, %g CPUs, %g GPUs, %d jobs",
				report.RayVersion, report.Address, report.Nodes, report.CPUs, report.GPUs, report.Jobs)
			return strings.Join(append([]string{found}, report.Warnings...), "; "), err
		},
	}, nil
}

// JobsAPI is how the settings reach the Jobs API of Ray.
func JobsAPI(set settings.Settings) jobsapi.Config {
	return jobsapi.Config{Address: set.RayAddress, Token: set.RayToken, TokenFile: set.RayTokenFile, PollInterval: set.RayPoll}
}
