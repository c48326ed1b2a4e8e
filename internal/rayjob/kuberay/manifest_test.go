package kuberay

import (
	"encoding/json"
	"testing"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/pod-security-admission/api"
	podsecurity "k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/kuberay/explain"
)

func anAttempt() rayjob.Attempt {
	return rayjob.Attempt{
		Run: "ft-abcdefghijklmnopqrst", Number: 2, Dir: "/shared/runs/ft-abcdefghijklmnopqrst", TrainerPath: "/shared/trainer/1f", Python: "python",
		Metadata: map[string]string{"clowder_dataset": "Ä \"quoted\"\n`x`", "clowder_job": "65a1", "clowder_user": "0011223344556677"},
	}
}

// made is the RayJob of an attempt on a profile.
func made(t *testing.T, a rayjob.Attempt, c Config, profile int) *rayv1.RayJob {
	t.Helper()
	c = c.withDefaults()
	require.NoError(t, c.validate())
	rj, err := c.newRayJob(a, c.Profiles[profile])
	require.NoError(t, err)
	return rj
}

func TestOwnCluster(t *testing.T) {
	t.Parallel()
	a := anAttempt()
	a.Resources = rayjob.Resources{Workers: 3, Limit: time.Hour}
	c := example()
	c.PendingLimit = 10 * time.Minute
	rj := made(t, a, c, 0)

	require.Equal(t, "ft-abcdefghijklmnopqrst-a2", rj.Name)
	require.Equal(t, map[string]string{
		labelManager: "clowder-ray", labelInstance: "clowder-ray", labelRun: a.Run, labelAttempt: "2",
	}, rj.Labels)
	require.Equal(t, "Ä \"quoted\" `x`", rj.Annotations[domain+"/clowder_dataset"])
	require.Equal(t, "0011223344556677", rj.Annotations[domain+"/clowder_user"])
	require.Equal(t, rayv1.HTTPMode, rj.Spec.SubmissionMode)
	require.Equal(t, rj.Name, rj.Spec.JobId)
	require.Equal(t, "python -m trainer run /shared/runs/ft-abcdefghijklmnopqrst/spec.json", rj.Spec.Entrypoint)
	require.True(t, rj.Spec.ShutdownAfterJobFinishes)
	require.Positive(t, rj.Spec.TTLSecondsAfterFinished)
	require.Zero(t, *rj.Spec.BackoffLimit, "the service counts the attempts itself")
	require.EqualValues(t, 25*60, *rj.Spec.PreRunningDeadlineSeconds)
	require.EqualValues(t, 85*60, *rj.Spec.ActiveDeadlineSeconds)
	var env struct {
		Vars map[string]string `json:"env_vars"`
	}
	require.NoError(t, yaml.UnmarshalStrict([]byte(rj.Spec.RuntimeEnvYAML), &env))
	require.Equal(t, a.Environment(), env.Vars)

	spec := rj.Spec.RayClusterSpec
	require.Equal(t, "2.60.0", spec.RayVersion)
	require.Equal(t, rayv1.AuthModeToken, spec.AuthOptions.Mode)
	require.Equal(t, rj.Name, *spec.AuthOptions.SecretName)
	require.Nil(t, spec.EnableInTreeAutoscaling)
	require.Equal(t, "0", spec.HeadGroupSpec.RayStartParams["num-cpus"], "no training lands on the head")
	require.Equal(t, "true", spec.HeadGroupSpec.RayStartParams["no-monitor"])
	require.Len(t, spec.WorkerGroupSpecs, 1)
	group := spec.WorkerGroupSpecs[0]
	require.EqualValues(t, 3, *group.Replicas)
	require.EqualValues(t, 3, *group.MinReplicas)
	require.EqualValues(t, 3, *group.MaxReplicas)
	require.Equal(t, "2", group.RayStartParams["num-cpus"], "CPUs are whole ones to Ray")
	require.Equal(t, "858993456", group.RayStartParams["object-store-memory"], "the object store fits into /dev/shm")

	require.Equal(t, "0", group.RayStartParams["include-log-monitor"])
	for _, pod := range []corev1.PodTemplateSpec{spec.HeadGroupSpec.Template, group.Template} {
		require.Equal(t, a.Run, pod.Labels[labelRun])
		box := pod.Spec.Containers[0]
		require.Contains(t, box.Env, corev1.EnvVar{Name: "RAY_IMAGE", Value: box.Image}, "the manifest of a run names it")
		require.Equal(t, box.Resources.Requests[corev1.ResourceMemory], box.Resources.Limits[corev1.ResourceMemory])
		require.NotContains(t, box.Resources.Limits, corev1.ResourceName(gpuResource))
		require.Empty(t, pod.Spec.Tolerations)
		require.Empty(t, pod.Spec.NodeSelector)
		require.Nil(t, pod.Spec.RuntimeClassName)
		mounts := map[string]string{}
		for _, m := range box.VolumeMounts {
			mounts[m.MountPath] = m.Name
		}
		require.Equal(t, map[string]string{
			"/shared/runs/ft-abcdefghijklmnopqrst": "shared", "/shared/trainer/1f": "shared", "/tmp": "scratch", "/dev/shm": "memory",
		}, mounts)
		require.False(t, *pod.Spec.AutomountServiceAccountToken)
	}
	require.Equal(t, "4Gi", group.Template.Spec.Containers[0].Resources.Limits.Memory().String())
}

// Every template that can come out passes the level restricted, and all of them carry the runtime class.
func TestPodsAreRestricted(t *testing.T) {
	t.Parallel()
	evaluator, err := podsecurity.NewEvaluator(podsecurity.DefaultChecks(), nil)
	require.NoError(t, err)
	scaled := example()
	scaled.Profiles[0].MinWorkers = new(int)
	for name, tc := range map[string]struct {
		config  Config
		profile int
	}{"small": {example(), 0}, "gpu": {example(), 1}, "autoscaled": {scaled, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := tc.config
			c.RuntimeClass, c.ServiceAccount, c.PullSecrets = "gvisor", "trainer", []string{"regcred"}
			spec := made(t, anAttempt(), c, tc.profile).Spec.RayClusterSpec
			templates := []corev1.PodTemplateSpec{spec.HeadGroupSpec.Template}
			for _, group := range spec.WorkerGroupSpecs {
				templates = append(templates, group.Template)
			}
			for _, pod := range templates {
				level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
				for _, result := range evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec) {
					require.True(t, result.Allowed, "%s: %s", result.ForbiddenReason, result.ForbiddenDetail)
				}
				require.True(t, *pod.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem)
				require.Equal(t, "gvisor", *pod.Spec.RuntimeClassName)
				require.Equal(t, []corev1.LocalObjectReference{{Name: "regcred"}}, pod.Spec.ImagePullSecrets)
			}
		})
	}
}

func TestGPUsAndQueue(t *testing.T) {
	t.Parallel()
	c := example()
	c.Profiles[1].Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	rj := made(t, anAttempt(), c, 1)
	require.Equal(t, "q", rj.Labels[explain.QueueLabel])
	spec := rj.Spec.RayClusterSpec
	worker, head := spec.WorkerGroupSpecs[0].Template.Spec, spec.HeadGroupSpec.Template.Spec
	gpus := worker.Containers[0].Resources.Limits[gpuResource]
	require.Zero(t, gpus.Cmp(resource.MustParse("2")))
	require.Equal(t, map[string]string{"disk": "ssd"}, worker.NodeSelector)
	require.Len(t, worker.Tolerations, 2)
	require.Equal(t, "low", worker.PriorityClassName)
	require.NotContains(t, head.Containers[0].Resources.Limits, corev1.ResourceName(gpuResource))
	require.Empty(t, head.NodeSelector)
	require.Equal(t, "low", head.PriorityClassName)
}

func TestAutoscaling(t *testing.T) {
	t.Parallel()
	c := example()
	c.ServiceAccount, c.Profiles[0].MinWorkers = "trainer", new(int)
	spec := made(t, anAttempt(), c, 0).Spec.RayClusterSpec
	require.True(t, *spec.EnableInTreeAutoscaling)
	require.Equal(t, rayv1.AutoscalerVersionV2, *spec.AutoscalerOptions.Version)
	group := spec.WorkerGroupSpecs[0]
	require.EqualValues(t, 0, *group.MinReplicas)
	require.EqualValues(t, 0, *group.Replicas, "workers come when the run asks for them")
	require.EqualValues(t, 2, *group.MaxReplicas)
	require.EqualValues(t, 60, *spec.AutoscalerOptions.IdleTimeoutSeconds)
	require.True(t, *spec.HeadGroupSpec.Template.Spec.AutomountServiceAccountToken, "the autoscaler talks to the API server")
	require.False(t, *group.Template.Spec.AutomountServiceAccountToken)
}

// The trainer is told what a cluster can grow to, since at its start Ray knows the head alone.
func TestWhatAnAutoscalerAddsIsTold(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		profile int
		change  func(*Profile)
		want    string
	}{
		"a fixed cluster": {0, func(*Profile) {}, ""},
		"a cluster of its own": {
			0, func(p *Profile) { p.MinWorkers = new(int) }, `{"workers": 2, "each": {"CPU": 2, "GPU": 0, "memory": 4294967296}}`,
		},
		"a standing cluster": {
			2, func(p *Profile) { p.MinWorkers, p.MaxWorkers, p.GPU = new(int), 5, 1 }, `{"workers": 5, "each": {"CPU": 1, "GPU": 1, "memory": 4294967296}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := example()
			tc.change(&c.Profiles[tc.profile])
			var env struct {
				Vars map[string]string `json:"env_vars"`
			}
			require.NoError(t, yaml.UnmarshalStrict([]byte(made(t, anAttempt(), c, tc.profile).Spec.RuntimeEnvYAML), &env))
			require.Equal(t, tc.want, env.Vars[growthEnv])
		})
	}
}

func TestStandingCluster(t *testing.T) {
	t.Parallel()
	rj := made(t, anAttempt(), example(), 2)
	require.Equal(t, map[string]string{"ray.io/cluster": "standing"}, rj.Spec.ClusterSelector)
	require.Nil(t, rj.Spec.RayClusterSpec)
	require.False(t, rj.Spec.ShutdownAfterJobFinishes)
	require.Zero(t, rj.Spec.TTLSecondsAfterFinished)
	require.NotNil(t, rj.Spec.PreRunningDeadlineSeconds, "a cluster that is not there is not waited for without end")
}

// No text of a user reaches a command line or an environment, whatever it holds.
func TestHostileMetadata(t *testing.T) {
	t.Parallel()
	plain := made(t, anAttempt(), example(), 0)
	a := anAttempt()
	for _, text := range []string{"$(id)", "`id`", "'; id; '", "\"\n\x00{{.}}", "\u202e"} {
		a.Metadata["clowder_dataset"] = text
		rj := made(t, a, example(), 0)
		require.Equal(t, plain.Spec.Entrypoint, rj.Spec.Entrypoint)
		require.Equal(t, plain.Spec.RuntimeEnvYAML, rj.Spec.RuntimeEnvYAML)
		doc, err := json.Marshal(rj)
		require.NoError(t, err)
		require.True(t, json.Valid(doc))
	}
}

func TestKubeRayWouldRefuse(t *testing.T) {
	t.Parallel()
	c := example().withDefaults()
	a := anAttempt()
	a.Run = "ft-abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrst"
	_, err := c.newRayJob(a, c.Profiles[0])
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
	require.ErrorContains(t, err, "invalid RayJob")
}
