package kuberay

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	podsecurity "k8s.io/pod-security-admission/policy"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/kuberay/explain"
)

// aScript is an attempt that runs a script of a user on this number of machines.
func aScript(nodes int) rayjob.Attempt {
	a := anAttempt()
	a.Script, a.Resources.Workers = true, nodes
	a.Reads = []string{"models", "overlays/1f"}
	return a
}

// forScripts is a configuration that allows scripts on up to three machines.
func forScripts() Config {
	c := example()
	c.Script = Script{RuntimeClass: "gvisor", MaxNodes: 3}
	return c
}

func TestAScriptOnOneMachineIsOnePod(t *testing.T) {
	t.Parallel()
	for name, nodes := range map[string]int{"one machine": 1, "no number": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := forScripts()
			c.Profiles[0].MinWorkers = new(int)
			spec := made(t, aScript(nodes), c, 0).Spec.RayClusterSpec
			require.Empty(t, spec.WorkerGroupSpecs)
			require.Nil(t, spec.EnableInTreeAutoscaling, "the autoscaler would have a token of the API server")
			require.Equal(t, "2", spec.HeadGroupSpec.RayStartParams["num-cpus"])
			require.Equal(t, "true", spec.HeadGroupSpec.RayStartParams["no-monitor"])
			pod := spec.HeadGroupSpec.Template
			require.NotContains(t, pod.Labels, labelNodes, "it needs no name server")
			box := pod.Spec.Containers[0]
			require.Equal(t, "4Gi", box.Resources.Limits.Memory().String(), "the pod has the size of the profile and not of a head")
			require.Equal(t, "1500m", box.Resources.Limits.Cpu().String(), "a script cannot take the CPUs of others")
		})
	}
}

// With less than a CPU, the agents of a Ray may need more than the 15 s that it gives them; its pod would start again and again.
func TestAScriptMayUseAWholeCPU(t *testing.T) {
	t.Parallel()
	for size, limit := range map[string]string{"200m": "1", "1": "1", "1500m": "1500m"} {
		c := forScripts()
		c.Profiles[0].CPU = resource.MustParse(size)
		box := made(t, aScript(1), c, 0).Spec.RayClusterSpec.HeadGroupSpec.Template.Spec.Containers[0]
		require.Equal(t, size, box.Resources.Requests.Cpu().String())
		require.Equal(t, limit, box.Resources.Limits.Cpu().String())
	}
}

func TestAScriptOnSeveralMachinesLeavesTheHeadAlone(t *testing.T) {
	t.Parallel()
	spec := made(t, aScript(3), forScripts(), 0).Spec.RayClusterSpec
	require.Equal(t, "0", spec.HeadGroupSpec.RayStartParams["num-cpus"])
	require.EqualValues(t, 3, *spec.WorkerGroupSpecs[0].Replicas)
	for _, pod := range []corev1.PodTemplateSpec{spec.HeadGroupSpec.Template, spec.WorkerGroupSpecs[0].Template} {
		require.Equal(t, severalNodes, pod.Labels[labelNodes])
	}
}

// Every pod of a script passes the level restricted, has the runtime class, no token and no other part of the volume than its own.
func TestPodsOfScriptsAreIsolated(t *testing.T) {
	t.Parallel()
	evaluator, err := podsecurity.NewEvaluator(podsecurity.DefaultChecks(), nil)
	require.NoError(t, err)
	shared := example()
	shared.Script = Script{SharedKernel: true, OpenNetwork: true}
	general := example()
	general.RuntimeClass = "kata"
	for name, tc := range map[string]struct {
		config         Config
		nodes          int
		class, network string
	}{
		"a class for scripts": {forScripts(), 1, "gvisor", "closed"},
		"several machines":    {forScripts(), 2, "gvisor", "closed"},
		"the class of all":    {general, 1, "kata", "closed"},
		"the shared kernel":   {shared, 1, "", "open"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := made(t, aScript(tc.nodes), tc.config, 0).Spec.RayClusterSpec
			pods := []corev1.PodTemplateSpec{spec.HeadGroupSpec.Template}
			for _, group := range spec.WorkerGroupSpecs {
				pods = append(pods, group.Template)
			}
			for _, pod := range pods {
				level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
				for _, result := range evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec) {
					require.True(t, result.Allowed, "%s: %s", result.ForbiddenReason, result.ForbiddenDetail)
				}
				require.Equal(t, optional(tc.class), pod.Spec.RuntimeClassName)
				require.False(t, *pod.Spec.AutomountServiceAccountToken)
				require.Equal(t, explain.KindScript, pod.Labels[explain.KindLabel])
				box := pod.Spec.Containers[0]
				require.Subset(t, box.Env, []corev1.EnvVar{{Name: classEnv, Value: tc.class}, {Name: networkEnv, Value: tc.network}})
				written := map[string]bool{}
				for _, m := range box.VolumeMounts {
					if m.Name == sharedVolume {
						require.NotEmpty(t, m.SubPath)
						written[m.SubPath] = !m.ReadOnly
					}
				}
				require.Equal(t, map[string]bool{"runs/" + anAttempt().Run: true, "trainer/1f": false, "models": false, "overlays/1f": false}, written)
			}
		})
	}
}

func TestScriptsAreRefusedWhereNothingIsolatesThem(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script    Script
		resources rayjob.Resources
		pods      bool
		want      string
	}{
		"nothing set":           {Script{}, rayjob.Resources{Workers: 1}, true, "install gVisor on the nodes and to set script.runtimeClass in KUBERAY_CONFIG"},
		"a class":               {Script{RuntimeClass: "gvisor"}, rayjob.Resources{Workers: 1}, true, ""},
		"the shared kernel":     {Script{SharedKernel: true}, rayjob.Resources{}, true, ""},
		"too many machines":     {Script{RuntimeClass: "gvisor"}, rayjob.Resources{Workers: 2}, true, "2 machines exceed the limit of 1 for scripts"},
		"a standing cluster":    {Script{}, rayjob.Resources{Profile: "standing"}, false, ""},
		"a profile of no name":  {Script{RuntimeClass: "gvisor"}, rayjob.Resources{Profile: "huge"}, false, "does not exist"},
		"more than the profile": {Script{RuntimeClass: "gvisor", MaxNodes: 9}, rayjob.Resources{Workers: 5}, false, "exceed the limit of 4 of the profile small"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := example()
			c.Script = tc.script
			s := newAPIServer(t, c)
			pods, err := s.Isolates(tc.resources)
			require.Equal(t, tc.pods, pods)
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			requireKind(t, job.KindPermanent, err)
			require.ErrorContains(t, err, tc.want)

			a := aScript(tc.resources.Workers)
			a.Resources = tc.resources
			_, err = s.Submit(t.Context(), a)
			require.ErrorContains(t, err, tc.want, "it is refused here too")
			require.Nil(t, s.rayJob(t, a.Name()))
		})
	}
}

func TestOnlyScriptsOnSeveralMachinesHaveAPolicyOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t, forScripts())
	one, several := aScript(1), aScript(2)
	several.Number++
	s.submitted(t, one)
	s.submitted(t, several)
	require.Nil(t, s.policy(t, one.Name()))

	policy := s.policy(t, several.Name())
	require.Equal(t, uid, string(policy.OwnerReferences[0].UID), "Kubernetes deletes it with the RayJob")
	pod := s.rayJob(t, several.Name()).Spec.RayClusterSpec.HeadGroupSpec.Template
	for label, value := range policy.Spec.PodSelector.MatchLabels {
		require.Equal(t, value, pod.Labels[label])
	}
	require.Equal(t, several.Run, policy.Spec.PodSelector.MatchLabels[labelRun])
	own := []networkingv1.NetworkPolicyPeer{{PodSelector: &policy.Spec.PodSelector}}
	require.Equal(t, []networkingv1.NetworkPolicyEgressRule{{To: own}}, policy.Spec.Egress)
	require.Equal(t, []networkingv1.NetworkPolicyIngressRule{{From: own}}, policy.Spec.Ingress)
	s.submitted(t, several)
	require.Equal(t, policy.Spec, s.policy(t, several.Name()).Spec, "a second call adopts what the first one made")
}

// A service that is killed between the policy and the RayJob leaves a policy without an owner; so does one whose RayJob is refused.
func TestAPolicyWithoutARayJobIsRemoved(t *testing.T) {
	t.Parallel()
	s := newAPIServer(t, forScripts())
	a := aScript(2)
	s.answer("create", "rayjobs", apierrors.NewInternalError(errors.New("away")))
	_, err := s.Submit(t.Context(), a)
	require.Error(t, err)
	require.NotNil(t, s.policy(t, a.Name()))
	require.Empty(t, s.policy(t, a.Name()).OwnerReferences)
	require.NoError(t, s.Release(t.Context(), rayjob.Handle{Backend: backendName, ID: a.Name()}))
	require.Nil(t, s.policy(t, a.Name()))
	require.Nil(t, s.token(t, a.Name()))
}

// policy is the NetworkPolicy of an attempt, nil without one.
func (s *apiServer) policy(t *testing.T, name string) *networkingv1.NetworkPolicy {
	t.Helper()
	policy, err := s.core.NetworkingV1().NetworkPolicies("research").Get(t.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(t, err)
	return policy
}
