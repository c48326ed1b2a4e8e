package kuberay

import (
	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"

	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/kuberay/explain"
)

// handleOf is the handle by which the RayJob is found again.
func handleOf(rj *rayv1.RayJob) rayjob.Handle {
	return rayjob.Handle{Backend: backendName, ID: rj.Name, Session: string(rj.UID), Cluster: explain.StandingCluster(rj)}
}
