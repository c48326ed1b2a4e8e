package job

// Handle is how a backend finds an attempt on Ray again. The backend that submitted the attempt sets it; the others of this program
// only compare and keep it.
type Handle struct {
	// Backend names the implementation that made the handle.
	Backend string `json:"backend"`
	// ID is the attempt's name on Ray.
	ID string `json:"id"`
	// Address is the address of the cluster when the attempt was submitted, for people who read the record.
	Address string `json:"address,omitempty"`
	// Session identifies the start of the cluster. A restarted cluster has another session and has forgotten its jobs.
	Session string `json:"session,omitempty"`
	// Cluster is the name of the standing RayCluster on which the attempt runs; empty if the attempt has its own cluster.
	Cluster string `json:"cluster,omitempty"`
}

// WithoutRay is the Backend of attempts that are processes of this program.
const WithoutRay = "process"

// OnRay reports whether Ray carries out the attempt.
func (h Handle) OnRay() bool { return h.Backend != WithoutRay }
