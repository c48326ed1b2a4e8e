//go:build integration

package helm

import (
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func jobs(objects []runtime.Object) (found []*batchv1.Job) {
	for _, o := range objects {
		if job, ok := o.(*batchv1.Job); ok {
			found = append(found, job)
		}
	}
	return found
}

// installing are values that install one model, and others.
func installing(set string) []string {
	return append(append([]string{}, least...), "--set", "models.install[0].name=prajjwal1/bert-tiny", "--set", set)
}

func TestEachModelIsInstalledByAJob(t *testing.T) {
	t.Parallel()
	require.Empty(t, jobs(render(t, least...)), "none is asked for")
	made := jobs(render(t, "--values", "testdata/everything.yaml"))
	require.Len(t, made, 2)
	first := made[0].Spec.Template.Spec
	require.Equal(t, "prajjwal1/bert-tiny", made[0].Annotations["clowder-ray.ncsa.illinois.edu/model"])
	require.Equal(t, []string{
		"models", "install", "prajjwal1/bert-tiny", "--yes", "--revision=refs/pr/11", "--license=MIT, as its page says", "--model-type=bert",
		"--default", "--endpoint=https://mirror.example.org:8443/huggingface", "--token-file=/etc/clowder-ray-hub/token",
	}, first.Containers[0].Args)
	require.Equal(t, "registry.example.org/clowder-ray/extractor:0.1.0", first.Containers[0].Image)
	require.False(t, *first.AutomountServiceAccountToken)
	require.Equal(t, corev1.RestartPolicyOnFailure, first.RestartPolicy, "an interrupted download goes on")
	require.EqualValues(t, 1000, *first.SecurityContext.RunAsUser, "the user that owns the folder of the models")
	require.Contains(t, first.Containers[0].Env, corev1.EnvVar{Name: "SSL_CERT_FILE", Value: "/etc/clowder-ray-ca/hub.crt"})
	require.Contains(t, first.Containers[0].Env, corev1.EnvVar{Name: "HTTPS_PROXY", Value: "http://proxy.example.org:3128"})
	var token *corev1.SecretVolumeSource
	for _, v := range first.Volumes {
		if v.Name == "token" {
			token = v.Secret
		}
	}
	require.Equal(t, "hub", token.SecretName)
	require.Equal(t, []corev1.KeyToPath{{Key: "token", Path: "token"}}, token.Items)
	require.Equal(t, []string{"models", "install", "sentence-transformers/all-MiniLM-L6-v2", "--yes"}, made[1].Spec.Template.Spec.Containers[0].Args[:4])
	require.NotContains(t, made[1].Spec.Template.Spec.Containers[0].Args, "--default")
}

// TestAnUpgradeRunsAJobAgainOnlyIfItChanged: Kubernetes refuses a change of a Job, so a changed one has another name.
func TestAnUpgradeRunsAJobAgainOnlyIfItChanged(t *testing.T) {
	t.Parallel()
	name := func(set string) string { return jobs(render(t, installing(set)...))[0].Name }
	before := name("metrics.serviceMonitor.enabled=false")
	require.Equal(t, before, name("metrics.serviceMonitor.enabled=true"), "nothing that the Job has")
	for _, change := range []string{"image.tag=1.2.3", "models.install[0].revision=main", "models.endpoint=https://mirror", "models.env.A=b"} {
		require.NotEqual(t, before, name(change), change)
	}
	require.LessOrEqual(t, len(before), 63, "it is also a label of the pod")
}

func TestAJobOfAModelReachesTheHubAndNothingElse(t *testing.T) {
	t.Parallel()
	for hub, port := range map[string]int32{
		"": 443, "http://mirror.example.org": 80, "https://mirror.example.org:8443/huggingface": 8443,
	} {
		values := installing("models.endpoint=" + hub)
		s := newParticipants(t, values...)
		pod := endpoint{namespace: namespace, labels: jobs(render(t, values...))[0].Spec.Template.Labels}
		for name, c := range map[string]struct {
			to   endpoint
			port int32
			want bool
		}{
			"the Hub":              {internet, port, true},
			"name servers":         {dns, 53, true},
			"another port":         {internet, 25, false},
			"Ray":                  {head, 8265, false},
			"the service":          {s.service, 8780, false},
			"the cloud's metadata": {metadata, 8081, false},
		} {
			require.Equal(t, c.want, s.allows(pod, c.to, corev1.ProtocolTCP, c.port), "%s %s", hub, name)
		}
		require.False(t, s.allows(neighbour, pod, corev1.ProtocolTCP, 8780), "nothing reaches it")
		require.False(t, s.allows(s.service, endpoint{namespace: namespace, labels: pod.labels}, corev1.ProtocolTCP, 8080))
	}
}
