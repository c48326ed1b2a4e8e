package kuberay

import (
	"math"
	"testing"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// amounts are the requests and limits of a container in words.
func amounts(list corev1.ResourceList) map[string]string {
	out := map[string]string{}
	for name, q := range list {
		out[string(name)] = q.String()
	}
	return out
}

func TestAWorkerRequestsTheWholeMachineAndLimitsWhatCannotBeShared(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		machine          Machine
		requests, limits map[string]string
		cpus             string
	}{
		"the defaults": {
			Machine{}, map[string]string{"cpu": "1", "memory": "4Gi"}, map[string]string{"memory": "4Gi"}, "1",
		},
		"less than one CPU is one for Ray": {
			Machine{CPU: resource.MustParse("250m"), Memory: resource.MustParse("2Gi")},
			map[string]string{"cpu": "250m", "memory": "2Gi"},
			map[string]string{"memory": "2Gi"},
			"1",
		},
		"a part of a CPU counts as a whole one": {
			Machine{CPU: resource.MustParse("3001m"), Memory: resource.MustParse("8Gi")},
			map[string]string{"cpu": "3001m", "memory": "8Gi"},
			map[string]string{"memory": "8Gi"},
			"4",
		},
		"GPUs of the usual name": {
			Machine{GPU: 4}, map[string]string{"cpu": "1", "memory": "4Gi", "nvidia.com/gpu": "4"}, map[string]string{"memory": "4Gi", "nvidia.com/gpu": "4"}, "1",
		},
		"GPUs of another name": {
			Machine{GPU: 1, GPUResource: "nvidia.com/mig-1g.5gb"},
			map[string]string{"cpu": "1", "memory": "4Gi", "nvidia.com/mig-1g.5gb": "1"},
			map[string]string{"memory": "4Gi", "nvidia.com/mig-1g.5gb": "1"},
			"1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := example()
			c.Profiles = []Profile{{Name: "one", Machine: tc.machine}}
			c.Head = Machine{CPU: resource.MustParse("2"), Memory: resource.MustParse("6Gi")}
			spec := made(t, anAttempt(), c, 0).Spec.RayClusterSpec
			group := spec.WorkerGroupSpecs[0]
			worker := group.Template.Spec.Containers[0].Resources
			require.Equal(t, tc.requests, amounts(worker.Requests))
			require.Equal(t, tc.limits, amounts(worker.Limits), "a limit on CPUs would only throttle")
			require.Equal(t, tc.cpus, group.RayStartParams["num-cpus"])
			head := spec.HeadGroupSpec.Template.Spec.Containers[0].Resources
			require.Equal(t, map[string]string{"cpu": "2", "memory": "6Gi"}, amounts(head.Requests))
			require.Equal(t, map[string]string{"memory": "6Gi"}, amounts(head.Limits))
		})
	}
}

func TestTheNumberOfWorkersIsTheOneThatWasAskedForOrElseTheOneOfTheProfile(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		asked          int
		minimum        *int
		want, smallest int32
	}{
		"nothing asked":                       {0, nil, 2, 2},
		"fewer than usual":                    {1, nil, 1, 1},
		"as many as allowed":                  {4, nil, 4, 4},
		"an autoscaler starts the others":     {3, new(1), 3, 1},
		"the minimum is above what was asked": {1, new(2), 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, a := example(), anAttempt()
			c.Profiles[0].MinWorkers, a.Resources.Workers = tc.minimum, tc.asked
			group := made(t, a, c, 0).Spec.RayClusterSpec.WorkerGroupSpecs[0]
			require.Equal(t, []int32{tc.smallest, tc.smallest, tc.want}, []int32{*group.MinReplicas, *group.Replicas, *group.MaxReplicas})
		})
	}
}

func TestKubeRayEndsARunOnlyAfterTheServiceWouldHave(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pending, limit time.Duration
		waits, runs    int32 // seconds; a run of 0 has no deadline
	}{
		"the defaults":                  {0, 0, 75 * 60, 0},
		"with a limit":                  {time.Hour, 2 * time.Hour, 75 * 60, 195 * 60},
		"a part of a second is a whole": {time.Hour, 1500 * time.Millisecond, 75 * 60, 75*60 + 2},
		"more than fits into 32 bits":   {math.MaxInt64 / 4, math.MaxInt64 / 4, math.MaxInt32, math.MaxInt32},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, a := example(), anAttempt()
			c.PendingLimit, a.Resources.Limit = tc.pending, tc.limit
			for profile := range c.Profiles {
				spec := made(t, a, c, profile).Spec
				require.Equal(t, tc.waits, *spec.PreRunningDeadlineSeconds)
				if tc.runs == 0 {
					require.Nil(t, spec.ActiveDeadlineSeconds)
				} else {
					require.Equal(t, tc.runs, *spec.ActiveDeadlineSeconds)
				}
			}
		})
	}
}

func TestEveryProfileLabelsItsObjectsAndNamesNobody(t *testing.T) {
	t.Parallel()
	c, a := example(), anAttempt()
	c.Instance, c.Owner = "team-a", "store-1"
	want := map[string]string{labelManager: "clowder-ray", labelInstance: "team-a", labelOwner: "store-1", labelRun: a.Run, labelAttempt: "2"}
	for profile, p := range c.Profiles {
		rj := made(t, a, c, profile)
		for key, value := range want {
			require.Equal(t, value, rj.Labels[key], p.Name)
		}
		if p.Cluster != "" {
			continue
		}
		for _, pod := range podsOf(rj) {
			require.Equal(t, want, pod.Labels, "pods are found by the same labels")
			require.Equal(t, rj.Annotations, pod.Annotations)
			require.False(t, *pod.Spec.EnableServiceLinks, "no pod learns of other services")
			require.EqualValues(t, podGraceSeconds, *pod.Spec.TerminationGracePeriodSeconds)
			require.Equal(t, corev1.TerminationMessageFallbackToLogsOnError, pod.Spec.Containers[0].TerminationMessagePolicy)
		}
	}
	changed := made(t, a, c, 0)
	changed.Labels[labelRun] = "x"
	require.Equal(t, a.Run, podsOf(made(t, a, c, 0))[0].Labels[labelRun], "no two objects share a map")
}

func podsOf(rj *rayv1.RayJob) []corev1.PodTemplateSpec {
	pods := []corev1.PodTemplateSpec{rj.Spec.RayClusterSpec.HeadGroupSpec.Template}
	for _, group := range rj.Spec.RayClusterSpec.WorkerGroupSpecs {
		pods = append(pods, group.Template)
	}
	return pods
}

func TestWhatAPodWritesIsBounded(t *testing.T) {
	t.Parallel()
	c := example()
	c.Scratch, c.SharedMemory = resource.MustParse("7Gi"), resource.MustParse("2Gi")
	for _, pod := range podsOf(made(t, anAttempt(), c, 0)) {
		sizes := map[string]string{}
		for _, v := range pod.Spec.Volumes {
			if v.EmptyDir != nil {
				sizes[v.Name+string(v.EmptyDir.Medium)] = v.EmptyDir.SizeLimit.String()
			} else {
				require.Equal(t, c.Claim, v.PersistentVolumeClaim.ClaimName)
			}
		}
		require.Equal(t, map[string]string{"scratch": "7Gi", "memoryMemory": "2Gi"}, sizes)
		for _, m := range pod.Spec.Containers[0].VolumeMounts {
			require.Equal(t, m.Name == sharedVolume, m.SubPath != "", "no pod mounts the whole volume")
		}
	}
}

func TestTolerationsOfAProfileAreNotSharedBetweenPods(t *testing.T) {
	t.Parallel()
	m := Machine{GPU: 1, GPUResource: gpuResource, Tolerations: make([]corev1.Toleration, 0, 8)}
	first := tolerations(m)
	m.GPUResource = "other.org/gpu"
	require.Equal(t, "other.org/gpu", tolerations(m)[0].Key)
	require.Equal(t, gpuResource, first[0].Key)
	require.Equal(t, corev1.TaintEffectNoSchedule, first[0].Effect)
}

func TestAnnotationsOfUsersAreOneShortLine(t *testing.T) {
	t.Parallel()
	a := anAttempt()
	a.Metadata = map[string]string{"clowder_dataset": "a\x1b[31m\n\tb" + string(make([]byte, 5000)) + "c"}
	note := annotations(a)[domain+"/clowder_dataset"]
	require.Regexp(t, `^a b`, note)
	require.LessOrEqual(t, len([]rune(note)), rayjob.MaxReason)
}
