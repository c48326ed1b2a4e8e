//go:build nokubernetes

package main

import (
	"errors"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/job"
)

// The program of the demo: the libraries of Kubernetes are a third of what is compiled for the whole one.
var errNoKubernetes = errors.New("KUBERAY_CONFIG: this program was built without Kubernetes; make build builds the whole one")

func newKubeRay(settings.Settings, string, *zap.Logger) (*ray, error) {
	return nil, job.Permanent(errNoKubernetes)
}

// profiles returns none: only Kubernetes has them.
func profiles(set settings.Settings) ([]string, error) {
	if set.KubeRayConfig == "" {
		return nil, nil
	}
	return nil, job.Permanent(errNoKubernetes)
}
