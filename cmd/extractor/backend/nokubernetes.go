//go:build nokubernetes

package backend

import (
	"errors"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/job"
)

// The program of the demo: the libraries of Kubernetes are half of what is compiled for the whole one.
var errNoKubernetes = errors.New("KUBERAY_CONFIG: this program was built without Kubernetes; make build builds the whole one")

func newKubeRay(settings.Settings, string, *zap.Logger) (*Ray, error) {
	return nil, job.Permanent(errNoKubernetes)
}

// Profiles returns none: only Kubernetes has them.
func Profiles(set settings.Settings) ([]string, error) {
	if set.KubeRayConfig == "" {
		return nil, nil
	}
	return nil, job.Permanent(errNoKubernetes)
}
