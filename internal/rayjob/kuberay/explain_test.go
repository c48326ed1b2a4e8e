package kuberay

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
	with := func(s scene, set func(*scene)) scene {
		set(&s)
		return s
	}
	wait := waits("ContainerCreating", "")
	for name, tc := range map[string]struct {
		scene scene
		want  string
	}{
		"KubeRay has not looked yet": {
			with(newScene(2), func(s *scene) {
				s.job.Status, s.cluster, s.job.CreationTimestamp = rayv1.RayJobStatus{}, nil, before(20*time.Second)
			}),
			"waiting for KubeRay to take up the job",
		},
		"KubeRay does not look": {
			with(newScene(2), func(s *scene) { s.job.Status, s.cluster = rayv1.RayJobStatus{}, nil }),
			"KubeRay has not looked at the job for 10 minutes" + toOperator + " whether it runs",
		},
		"no cluster yet": {
			with(newScene(2), func(s *scene) { s.cluster = nil }),
			"waiting for KubeRay to set up the Ray cluster",
		},
		"the operator made its cluster twice": {
			with(newScene(2), func(s *scene) {
				s.cluster = nil
				s.events = []corev1.Event{event("ft-abc-a1", "FailedToCreateRayCluster",
					`Failed to create RayCluster research/ft-abc-a1-x2x4z: rayclusters.ray.io "ft-abc-a1-x2x4z" already exists`, time.Second)}
			}),
			"waiting for KubeRay to set up the Ray cluster",
		},
		"the cluster may not be made": {
			with(newScene(2), func(s *scene) {
				s.cluster = nil
				s.events = []corev1.Event{event("ft-abc-a1", "FailedToCreateRayCluster",
					`Failed to create RayCluster research/ft-abc-a1-x2x4z: rayclusters.ray.io "ft-abc-a1-x2x4z" is forbidden: exceeded quota: team, `+
						`requested: count/rayclusters.ray.io=1, used: count/rayclusters.ray.io=5, limited: count/rayclusters.ray.io=5`, time.Second)}
			}),
			`the quota "team" has no room for 1 rayclusters.ray.io (5 of 5 are in use); it starts when other work ends, ` + orOperator + ` for a larger quota`,
		},
		"its service may not be made": {
			with(newScene(1, head(up), worker(1, up)), func(s *scene) {
				s.events = []corev1.Event{
					event("ft-abc-a1", "CreatedRayCluster", "Created RayCluster research/ft-abc-a1-x2x4z", time.Minute),
					event("ft-abc-a1", "FailedToCreateService", `Failed to create the service research/ft-abc-a1-head-svc, services "ft-abc-a1-head-svc" `+
						`is forbidden: `+
						"exceeded quota: team, requested: services=1, used: services=3, limited: services=3", time.Second),
				}
			}),
			`the quota "team" has no room for 1 services (3 of 3 are in use); it starts when other work ends, ` + orOperator + ` for a larger quota`,
		},
		"suspended by a person": {
			with(newScene(2), func(s *scene) {
				s.job.Spec.Suspend, s.job.Status.JobDeploymentStatus = true, rayv1.JobDeploymentStatusSuspended
			}),
			"the job is suspended" + toOperator + " to resume it",
		},
		"suspended by Kueue, whose view may not be read": {
			with(newScene(2), func(s *scene) {
				s.job.Spec.Suspend, s.job.Status.JobDeploymentStatus = true, rayv1.JobDeploymentStatusSuspended
				s.job.Labels = map[string]string{queueLabel: "team"}
			}),
			`waiting in the queue "team"`,
		},
		"no pods yet":        {newScene(2), "starting 1 head and 2 workers"},
		"one of two workers": {newScene(2, head(wait), worker(1, up), worker(2, wait)), "starting 1 head and 2 workers; 1 of 3 is ready"},
		"one worker to come": {newScene(2, worker(1, up), worker(2, wait), head(up)), "starting 1 head and 2 workers; 2 of 3 are ready"},
		"all is ready":       {newScene(1, worker(1, up), head(up)), "the Ray cluster is ready and starts the training program"},
		"a pod that goes":    {newScene(1, head(up), worker(1, up, deleted)), "starting 1 head and 1 worker; 1 of 2 is ready"},
		"a GPU for some": {
			newScene(4, head(up), worker(1, up), worker(2, gpus("1"), unschedulableFor(noGPU)), worker(3, up), worker(4, gpus("1"), unschedulableFor(noGPU))),
			"waiting for 2 of 4 workers: no node has 1 GPU free",
		},
		"a GPU for all": {
			newScene(2, head(up), worker(1, gpus("2"), unschedulableFor(noGPU)), worker(2, gpus("2"), unschedulableFor(noGPU))),
			"waiting for all 2 workers: no node has 2 GPUs free",
		},
		"a GPU for one": {newScene(1, head(up), worker(1, gpus("1"), unschedulableFor(noGPU))), "waiting for the worker: no node has 1 GPU free"},
		"the head comes first": {
			newScene(2, worker(1, gpus("1"), unschedulableFor(noGPU)), head(unschedulableFor("0/1 nodes are available: 1 Insufficient cpu."))),
			"waiting for the head: no node has 2 CPUs free",
		},
		"the same for head and workers": {
			newScene(2, head(waits("InvalidImageName", "x")), worker(1, initWaits("InvalidImageName", "x")), worker(2, initWaits("InvalidImageName", "x"))),
			`waiting for the head and all 2 workers: "clowder-ray/ray:0.1.0" is no name of an image` + toOperator + ` to mend it`,
		},
		"a machine is started": {
			with(newScene(1, head(up), worker(1, gpus("1"), unschedulableFor(noGPU))), func(s *scene) {
				s.events = []corev1.Event{event(s.pods[1].Name, "TriggeredScaleUp", "pod triggered scale-up: [{gpu-pool 0->1 (max: 2)}]", time.Minute)}
			}),
			"waiting for the worker: no node has 1 GPU free; a new machine is being started",
		},
		"the image is pulled": {
			with(newScene(1, head(wait), worker(1, up)), func(s *scene) {
				s.events = []corev1.Event{
					event(s.pods[0].Name, "Pulling", `Pulling image "clowder-ray/ray:0.1.0"`, 3*time.Minute+time.Second),
					event(s.pods[0].Name, "Scheduled", "Successfully assigned", 4*time.Minute),
				}
			}),
			"starting 1 head and 1 worker: pulling the image, 3 minutes so far; 1 of 2 is ready",
		},
		"the image was pulled": {
			with(newScene(1, head(wait)), func(s *scene) {
				s.events = []corev1.Event{
					event(s.pods[0].Name, "Pulled", "Successfully pulled image", time.Second), event(s.pods[0].Name, "Pulling", "Pulling image", time.Minute),
				}
			}),
			"starting 1 head and 1 worker",
		},
		"Ray is silent": {
			newScene(1, worker(1, up), head(ran(func(c *corev1.ContainerStatus) {
				c.State.Running = &corev1.ContainerStateRunning{StartedAt: before(4 * time.Minute)}
			}))),
			"waiting for the head: Ray was started there and does not answer" + toOperator + " to look at the log of the pod ft-abc-a1-x2x4z-head-7f9tq",
		},
		"Ray has just begun": {
			newScene(1, worker(1, up), head(ran(func(c *corev1.ContainerStatus) {
				c.State.Running = &corev1.ContainerStateRunning{StartedAt: before(time.Minute)}
			}))),
			"starting 1 head and 1 worker; 1 of 2 is ready",
		},
		"the head is not reached": {
			newScene(1, head(up), worker(1, initWaits("", ""), func(p *corev1.Pod) {
				p.Status.InitContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: before(5 * time.Minute)}}
			})),
			"waiting for the worker: it cannot reach the head over the network" + toOperator + " whether network policies let the pods of Ray talk " +
				"to each other",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, tc.scene.waiting())
		})
	}
}

func TestWaitingForAStandingCluster(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		set  func(*scene)
		want string
	}{
		"not seen": {func(s *scene) { s.cluster = nil }, `waiting for the standing Ray cluster "shared-ray" to start the training program`},
		"there":    {func(*scene) {}, `waiting for the standing Ray cluster "shared-ray" to start the training program`},
		"its pods are seen": {
			func(s *scene) { s.pods = []*corev1.Pod{head(up), worker(1, waits("ContainerCreating", ""))} },
			"starting 1 head and 1 worker; 1 of 2 is ready",
		},
		"not there": {
			func(s *scene) {
				s.cluster = nil
				s.events = []corev1.Event{event("ft-abc-a1", "RayClusterNotFound", "RayCluster research/shared-ray set in the clusterSelector is not "+
					"found. It must be created manually", time.Minute)}
			},
			`the standing Ray cluster "shared-ray" is not there; choose another profile, ` + orOperator + ` to start it`,
		},
		"going": {
			func(s *scene) { s.cluster.DeletionTimestamp = new(before(time.Second)) },
			`the standing Ray cluster "shared-ray" is not there; choose another profile, ` + orOperator + ` to start it`,
		},
		"suspended": {
			func(s *scene) { s.cluster.Spec.Suspend = new(true) },
			`the standing Ray cluster "shared-ray" is suspended; choose another profile, ` + orOperator + ` to resume it`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(1)
			s.job.Spec.ClusterSelector = map[string]string{utils.RayJobClusterSelectorKey: "shared-ray"}
			tc.set(&s)
			require.Equal(t, tc.want, s.waiting())
		})
	}
}

func TestCoarse(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "1 minute", 90 * time.Second: "1 minute", 4 * time.Minute: "3 minutes", 59 * time.Minute: "45 minutes",
		time.Hour: "1 hour", 5 * time.Hour: "4 hours", 48 * time.Hour: "24 hours",
	} {
		require.Equal(t, want, coarse(d), d)
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
		require.Equal(t, noon.Add(-time.Minute), moment(&e), name)
	}
}

func TestRemedyIsNeverCutOff(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 500)
	s := newScene(1, head(up), worker(1, waits("CreateContainerError", long)))
	require.True(t, strings.HasSuffix(s.waiting(), toOperator), s.waiting())
	s = newScene(1, head(up))
	s.cluster.Status.Conditions = []metav1.Condition{{
		Type: string(rayv1.RayClusterReplicaFailure), Reason: "FailedCreateHeadPod",
		Message: `admission webhook "` + long + `" denied the request: ` + long,
	}}
	require.True(t, strings.HasSuffix(s.waiting(), toOperator), s.waiting())
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
		s := newScene(2, &p, head(up))
		for _, reason := range []string{"FailedMount", "FailedCreatePodSandBox", "Failed", "Evicted"} {
			s.events = append(s.events, event(p.Name, reason, message, time.Minute))
		}
		requireLine(t, s.waiting(), s.trouble())
		s.pods[1] = head(up, deleted)
		s.cluster.Status.Conditions = []metav1.Condition{{Type: string(rayv1.RayClusterReplicaFailure), Reason: "FailedCreateHeadPod", Message: message}}
		requireLine(t, s.waiting(), s.trouble())
	})
}
