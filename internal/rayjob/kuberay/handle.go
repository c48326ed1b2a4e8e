package kuberay

import (
	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// handleOf names the RayJob to those who come again.
func handleOf(rj *rayv1.RayJob) rayjob.Handle {
	return rayjob.Handle{Backend: backendName, ID: rj.Name, Session: string(rj.UID), Cluster: standingCluster(rj)}
}

// standingCluster is the name of the RayCluster that the job was sent to; empty where it has one of its own.
func standingCluster(rj *rayv1.RayJob) string {
	return rj.Spec.ClusterSelector[utils.RayJobClusterSelectorKey]
}
