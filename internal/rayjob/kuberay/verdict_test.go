package kuberay

import (
	"slices"
	"testing"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

const exited = "Job entrypoint command failed with exit code 3, last available logs (truncated to 20,000 chars):\nValueError: no label column\n"

func TestVerdicts(t *testing.T) {
	t.Parallel()
	status := func(d rayv1.JobDeploymentStatus, j rayv1.JobStatus, r rayv1.JobFailedReason, message string) rayv1.RayJobStatus {
		return rayv1.RayJobStatus{JobDeploymentStatus: d, JobStatus: j, Reason: r, Message: message}
	}
	for _, tc := range []struct {
		status rayv1.RayJobStatus
		want   rayjob.Verdict
		reason string
	}{
		{status("", "", "", ""), rayjob.Pending, ""},
		{status("Initializing", "", "", ""), rayjob.Pending, ""},
		{status("Waiting", "", "", ""), rayjob.Pending, ""},
		{status("Suspending", "", "", ""), rayjob.Pending, ""},
		{status("Suspended", "", "", ""), rayjob.Pending, ""},
		{status("Retrying", "FAILED", "AppFailed", "x"), rayjob.Running, ""},
		{status("Running", "", "", ""), rayjob.Pending, ""},
		{status("Running", "PENDING", "", ""), rayjob.Pending, ""},
		{status("Running", "RUNNING", "", ""), rayjob.Running, ""},
		{status("Running", "SUCCEEDED", "", ""), rayjob.Running, ""},
		{status("Running", "FAILED", "", ""), rayjob.Running, ""},
		{status("Running", "STOPPED", "", ""), rayjob.Running, ""},
		{status("Complete", "SUCCEEDED", "", ""), rayjob.Succeeded, ""},
		{status("Complete", "SUCCEEDED", "JobDeploymentStatusTransitionGracePeriodExceeded", ""), rayjob.Succeeded, ""},
		{status("Complete", "STOPPED", "", ""), rayjob.Stopped, "the training was stopped on the Ray cluster"},
		{status("Complete", "FAILED", "", exited), rayjob.Failed, "the training program ended with exit code 3: ValueError: no label column"},
		{status("Complete", "", "", ""), rayjob.Failed, "KubeRay ended the training without a reason"},
		{status("Failed", "FAILED", "AppFailed", exited), rayjob.Failed, "the training program ended with exit code 3: ValueError: no label column"},
		{status("Failed", "RUNNING", "DeadlineExceeded", ""), rayjob.Failed, "the training took longer than its time limit"},
		{status("Failed", "", "PreRunningDeadlineExceeded", ""), rayjob.Failed, "the cluster had no free resources for the training in time: try again later or choose a smaller profile"},
		{status("Failed", "", "SubmissionFailed", "no\nroute"), rayjob.Failed, "KubeRay could not submit the training to Ray: no route"},
		{status("Failed", "RUNNING", "JobDeploymentStatusTransitionGracePeriodExceeded", ""), rayjob.Failed, "KubeRay lost track of the training"},
		{status("Failed", "", "ValidationFailed", "x"), rayjob.Failed, "KubeRay rejected the RayJob: x"},
		{status("ValidationFailed", "", "ValidationFailed", "bad spec"), rayjob.Failed, "KubeRay rejected the RayJob; ask the administrator of the extractor: bad spec"},
	} {
		obs, known := judge(tc.status)
		require.True(t, known, "%+v", tc.status)
		require.Equal(t, tc.want, obs.Verdict, "%+v", tc.status)
		require.Equal(t, tc.reason, obs.Reason)
		require.Equal(t, tc.want == rayjob.Pending || tc.status.JobDeploymentStatus == "Retrying", obs.Notice != "", "%+v", tc.status)
		require.Equal(t, tc.status.JobDeploymentStatus == "ValidationFailed", obs.Final)
	}
}

// A word that a later version may bring is no end, unless KubeRay itself says that it is done.
func TestUnknownWords(t *testing.T) {
	t.Parallel()
	for _, s := range []rayv1.RayJobStatus{
		{JobDeploymentStatus: "Migrating"}, {JobDeploymentStatus: "Migrating", JobStatus: "FAILED"}, {JobDeploymentStatus: "Running", JobStatus: "PAUSED"},
	} {
		obs, known := judge(s)
		require.False(t, known)
		require.Equal(t, rayjob.Running, obs.Verdict)
	}
	obs, known := judge(rayv1.RayJobStatus{JobDeploymentStatus: "Failed", Reason: "Eaten", Message: "by\nwhales"})
	require.False(t, known)
	require.Equal(t, rayjob.Observation{Verdict: rayjob.Failed, Reason: "KubeRay ended the training (Eaten): by whales"}, obs)
}

// Every pair of known words is known, so that a table that misses one is found.
func TestEveryPairIsKnown(t *testing.T) {
	t.Parallel()
	for _, d := range []rayv1.JobDeploymentStatus{
		rayv1.JobDeploymentStatusNew, rayv1.JobDeploymentStatusInitializing, rayv1.JobDeploymentStatusRunning, rayv1.JobDeploymentStatusComplete,
		rayv1.JobDeploymentStatusFailed, rayv1.JobDeploymentStatusValidationFailed, rayv1.JobDeploymentStatusSuspending,
		rayv1.JobDeploymentStatusSuspended, rayv1.JobDeploymentStatusRetrying, rayv1.JobDeploymentStatusWaiting,
	} {
		for _, j := range rayv1.AllJobStatuses {
			obs, known := judge(rayv1.RayJobStatus{JobDeploymentStatus: d, JobStatus: j})
			require.True(t, known, "%s/%s", d, j)
			ended := slices.Contains([]rayv1.JobDeploymentStatus{"Complete", "Failed", "ValidationFailed"}, d)
			require.Equal(t, ended, obs.Verdict.Terminal(), "%s/%s", d, j)
		}
	}
}
