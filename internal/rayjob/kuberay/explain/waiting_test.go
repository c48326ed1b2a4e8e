package explain

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const noGPU = "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient nvidia.com/gpu. preemption: 0/3 nodes are " +
	"available: 3 No preemption victims found for incoming pod."

func TestWaiting(t *testing.T) {
	t.Parallel()
	with := func(s Snapshot, set func(*Snapshot)) Snapshot {
		set(&s)
		return s
	}
	wait := waits("ContainerCreating", "")
	for name, tc := range map[string]struct {
		snapshot Snapshot
		want     string
	}{
		"KubeRay has not looked yet": {
			with(newSnapshot(2), func(s *Snapshot) {
				s.Job.Status, s.Cluster, s.Job.CreationTimestamp = rayv1.RayJobStatus{}, nil, before(20*time.Second)
			}),
			"waiting for KubeRay to accept the job",
		},
		"KubeRay does not look": {
			with(newSnapshot(2), func(s *Snapshot) { s.Job.Status, s.Cluster = rayv1.RayJobStatus{}, nil }),
			"KubeRay has not accepted the job for 10 minutes" + toAdministrator + " to check that KubeRay is running",
		},
		"no cluster yet": {
			with(newSnapshot(2), func(s *Snapshot) { s.Cluster = nil }),
			"waiting for KubeRay to create the Ray cluster",
		},
		"the operator made its cluster twice": {
			with(newSnapshot(2), func(s *Snapshot) {
				s.Cluster = nil
				s.Events = []corev1.Event{event("ft-abc-a1", "FailedToCreateRayCluster",
					`Failed to create RayCluster research/ft-abc-a1-x2x4z: rayclusters.ray.io "ft-abc-a1-x2x4z" already exists`, time.Second)}
			}),
			"waiting for KubeRay to create the Ray cluster",
		},
		"the cluster may not be made": {
			with(newSnapshot(2), func(s *Snapshot) {
				s.Cluster = nil
				s.Events = []corev1.Event{event("ft-abc-a1", "FailedToCreateRayCluster",
					`Failed to create RayCluster research/ft-abc-a1-x2x4z: rayclusters.ray.io "ft-abc-a1-x2x4z" is forbidden: exceeded quota: team, `+
						`requested: count/rayclusters.ray.io=1, used: count/rayclusters.ray.io=5, limited: count/rayclusters.ray.io=5`, time.Second)}
			}),
			`the quota "team" has no room for 1 rayclusters.ray.io (5 of 5 are in use); wait until other work ends, ` + orAdministrator + ` for a larger quota`,
		},
		"its service may not be made": {
			with(newSnapshot(1, head(up), worker(1, up)), func(s *Snapshot) {
				s.Events = []corev1.Event{
					event("ft-abc-a1", "CreatedRayCluster", "Created RayCluster research/ft-abc-a1-x2x4z", time.Minute),
					event("ft-abc-a1", "FailedToCreateService", `Failed to create the service research/ft-abc-a1-head-svc, services "ft-abc-a1-head-svc" `+
						`is forbidden: `+
						"exceeded quota: team, requested: services=1, used: services=3, limited: services=3", time.Second),
				}
			}),
			`the quota "team" has no room for 1 services (3 of 3 are in use); wait until other work ends, ` + orAdministrator + ` for a larger quota`,
		},
		"suspended by a person": {
			with(newSnapshot(2), func(s *Snapshot) {
				s.Job.Spec.Suspend, s.Job.Status.JobDeploymentStatus = true, rayv1.JobDeploymentStatusSuspended
			}),
			"the job is suspended" + toAdministrator + " to resume it",
		},
		"suspended by Kueue, whose view may not be read": {
			with(newSnapshot(2), func(s *Snapshot) {
				s.Job.Spec.Suspend, s.Job.Status.JobDeploymentStatus = true, rayv1.JobDeploymentStatusSuspended
				s.Job.Labels = map[string]string{QueueLabel: "team"}
			}),
			`waiting in the queue "team"`,
		},
		"an autoscaler starts no worker yet": {
			with(newSnapshot(0, head(wait)), func(s *Snapshot) { s.Cluster.Spec.EnableInTreeAutoscaling = new(true) }),
			"starting the head; workers follow when the run asks for them",
		},
		"no pods yet":        {newSnapshot(2), "starting 1 head and 2 workers"},
		"one of two workers": {newSnapshot(2, head(wait), worker(1, up), worker(2, wait)), "starting 1 head and 2 workers; 1 of 3 is ready"},
		"one worker to come": {newSnapshot(2, worker(1, up), worker(2, wait), head(up)), "starting 1 head and 2 workers; 2 of 3 are ready"},
		"all is ready":       {newSnapshot(1, worker(1, up), head(up)), "the Ray cluster is ready and is starting the training program"},
		"a pod that goes":    {newSnapshot(1, head(up), worker(1, up, deleted)), "starting 1 head and 1 worker; 1 of 2 is ready"},
		"a GPU for some": {
			newSnapshot(4, head(up), worker(1, up), worker(2, gpus("1"), unschedulableFor(noGPU)), worker(3, up), worker(4, gpus("1"), unschedulableFor(noGPU))),
			"waiting for 2 of 4 workers: no node has 1 GPU free",
		},
		"a GPU for all": {
			newSnapshot(2, head(up), worker(1, gpus("2"), unschedulableFor(noGPU)), worker(2, gpus("2"), unschedulableFor(noGPU))),
			"waiting for all 2 workers: no node has 2 GPUs free",
		},
		"a GPU for one": {newSnapshot(1, head(up), worker(1, gpus("1"), unschedulableFor(noGPU))), "waiting for the worker: no node has 1 GPU free"},
		"the head comes first": {
			newSnapshot(2, worker(1, gpus("1"), unschedulableFor(noGPU)), head(unschedulableFor("0/1 nodes are available: 1 Insufficient cpu."))),
			"waiting for the head: no node has 2 CPUs free",
		},
		"the same for head and workers": {
			newSnapshot(2, head(waits("InvalidImageName", "x")), worker(1, initWaits("InvalidImageName", "x")), worker(2, initWaits("InvalidImageName", "x"))),
			"waiting for the head and all 2 workers: its container cannot start (InvalidImageName: x)" + toAdministrator,
		},
		"the image is pulled": {
			with(newSnapshot(1, head(wait), worker(1, up)), func(s *Snapshot) {
				s.Events = []corev1.Event{
					event(s.Pods[0].Name, "Pulling", `Pulling image "clowder-ray/ray:0.1.0"`, 3*time.Minute+time.Second),
					event(s.Pods[0].Name, "Scheduled", "Successfully assigned", 4*time.Minute),
				}
			}),
			"starting 1 head and 1 worker: pulling the image, 3 minutes so far; 1 of 2 is ready",
		},
		"the image was pulled": {
			with(newSnapshot(1, head(wait)), func(s *Snapshot) {
				s.Events = []corev1.Event{
					event(s.Pods[0].Name, "Pulled", "Successfully pulled image", time.Second), event(s.Pods[0].Name, "Pulling", "Pulling image", time.Minute),
				}
			}),
			"starting 1 head and 1 worker",
		},
		"Ray is silent": {
			newSnapshot(1, worker(1, up), head(ran(func(c *corev1.ContainerStatus) {
				c.State.Running = &corev1.ContainerStateRunning{StartedAt: before(4 * time.Minute)}
			}))),
			"waiting for the head: Ray has started but does not respond" + toAdministrator + " to check the log of the pod ft-abc-a1-x2x4z-head-7f9tq",
		},
		"Ray has just begun": {
			newSnapshot(1, worker(1, up), head(ran(func(c *corev1.ContainerStatus) {
				c.State.Running = &corev1.ContainerStateRunning{StartedAt: before(time.Minute)}
			}))),
			"starting 1 head and 1 worker; 1 of 2 is ready",
		},
		"the head is not reached": {
			newSnapshot(1, head(up), worker(1, initWaits("", ""), func(p *corev1.Pod) {
				p.Status.InitContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: before(5 * time.Minute)}}
			})),
			"waiting for the worker: it cannot reach the head over the network" + toAdministrator + " to allow traffic between Ray pods in the network policies",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, tc.snapshot.Waiting())
		})
	}
}

func TestWaitingForAStandingCluster(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		set  func(*Snapshot)
		want string
	}{
		"not seen": {func(s *Snapshot) { s.Cluster = nil }, `waiting for the standing Ray cluster "shared-ray" to start the training program`},
		"there":    {func(*Snapshot) {}, `waiting for the standing Ray cluster "shared-ray" to start the training program`},
		"its pods are seen": {
			func(s *Snapshot) { s.Pods = []*corev1.Pod{head(up), worker(1, waits("ContainerCreating", ""))} },
			"starting 1 head and 1 worker; 1 of 2 is ready",
		},
		"not there": {
			func(s *Snapshot) {
				s.Cluster = nil
				s.Events = []corev1.Event{event("ft-abc-a1", "RayClusterNotFound", "RayCluster research/shared-ray set in the clusterSelector is not "+
					"found. It must be created manually", time.Minute)}
			},
			`the standing Ray cluster "shared-ray" does not exist; choose another profile, ` + orAdministrator + ` to start it`,
		},
		"going": {
			func(s *Snapshot) { s.Cluster.DeletionTimestamp = new(before(time.Second)) },
			`the standing Ray cluster "shared-ray" does not exist; choose another profile, ` + orAdministrator + ` to start it`,
		},
		"suspended": {
			func(s *Snapshot) { s.Cluster.Spec.Suspend = new(true) },
			`the standing Ray cluster "shared-ray" is suspended; choose another profile, ` + orAdministrator + ` to resume it`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSnapshot(1)
			s.Job.Spec.ClusterSelector = map[string]string{utils.RayJobClusterSelectorKey: "shared-ray"}
			tc.set(&s)
			require.Equal(t, tc.want, s.Waiting())
		})
	}
}

func TestCoarse(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "1 minute", 90 * time.Second: "1 minute", 4 * time.Minute: "3 minutes", 59 * time.Minute: "45 minutes",
		time.Hour: "1 hour", 5 * time.Hour: "4 hours", 48 * time.Hour: "24 hours",
	} {
		require.Equal(t, want, roughDuration(d), d)
	}
}

func TestMomentOfAnEvent(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]corev1.Event{
		"of the old API": {FirstTimestamp: before(time.Hour), LastTimestamp: before(time.Minute)},
		"of the new API": {EventTime: metav1.NewMicroTime(noon.Add(-time.Minute))},
		"in a series": {
			EventTime: metav1.NewMicroTime(noon.Add(-time.Hour)),
			Series:    &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(noon.Add(-time.Minute))},
		},
		"without a time": {ObjectMeta: metav1.ObjectMeta{CreationTimestamp: before(time.Minute)}},
	} {
		require.Equal(t, noon.Add(-time.Minute), eventTime(&e), name)
	}
}

func TestRemedyIsNeverCutOff(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 500)
	s := newSnapshot(1, head(up), worker(1, waits("CreateContainerError", long)))
	require.True(t, strings.HasSuffix(s.Waiting(), toAdministrator), s.Waiting())
	s = newSnapshot(1, head(up))
	s.Cluster.Status.Conditions = []metav1.Condition{{
		Type: string(rayv1.RayClusterReplicaFailure), Reason: "FailedCreateHeadPod",
		Message: `admission webhook "` + long + `" denied the request: ` + long,
	}}
	require.True(t, strings.HasSuffix(s.Waiting(), toAdministrator), s.Waiting())
}

func FuzzExplanation(f *testing.F) {
	for _, p := range []*corev1.Pod{
		head(up), worker(1, gpus("1"), unschedulableFor(noGPU)), worker(1, initWaits("ErrImagePull", "not found")),
		worker(1, waits("CrashLoopBackOff", "x"), ended(time.Minute, corev1.ContainerStateTerminated{ExitCode: 1, Message: "ValueError: \x1b[31mx"})),
		worker(1, func(p *corev1.Pod) {
			p.Status.Reason, p.Status.Message = "Evicted", `Usage of EmptyDir volume "scratch" exceeds the limit "20Gi". `
		}),
	} {
		doc, err := json.Marshal(p)
		require.NoError(f, err)
		f.Add(doc, "pods \"x\" is forbidden: exceeded quota: q, requested: cpu=1, used: cpu=1, limited: cpu=1")
	}
	f.Fuzz(func(t *testing.T, doc []byte, message string) {
		var p corev1.Pod
		if json.Unmarshal(doc, &p) != nil {
			return
		}
		s := newSnapshot(2, &p, head(up))
		for _, reason := range []string{"FailedMount", "FailedCreatePodSandBox", "Failed", "Evicted"} {
			s.Events = append(s.Events, event(p.Name, reason, message, time.Minute))
		}
		requireLine(t, s.Waiting(), s.Trouble())
		s.Pods[1] = head(up, deleted)
		s.Cluster.Status.Conditions = []metav1.Condition{{Type: string(rayv1.RayClusterReplicaFailure), Reason: "FailedCreateHeadPod", Message: message}}
		requireLine(t, s.Waiting(), s.Trouble())
	})
}
