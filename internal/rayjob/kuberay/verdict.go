package kuberay

import (
	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// judge turns the status of a RayJob into a verdict; known is false for an unknown status. It is the only table of KubeRay's
// states. They are strings of another program, so an unknown one means keep waiting.
func judge(s rayv1.RayJobStatus) (obs rayjob.Observation, known bool) {
	switch s.JobDeploymentStatus {
	case rayv1.JobDeploymentStatusNew, rayv1.JobDeploymentStatusInitializing, rayv1.JobDeploymentStatusWaiting:
		return rayjob.Observation{Verdict: rayjob.Pending, Notice: "waiting for the Ray cluster of the training to start"}, true
	case rayv1.JobDeploymentStatusSuspending, rayv1.JobDeploymentStatusSuspended:
		return rayjob.Observation{Verdict: rayjob.Pending, Notice: "waiting in the queue of the cluster"}, true
	case rayv1.JobDeploymentStatusRetrying: // KubeRay creates a new cluster; the training resumes from its checkpoint
		return rayjob.Observation{Verdict: rayjob.Running, Notice: "the Ray cluster of the training is being replaced"}, true
	case rayv1.JobDeploymentStatusRunning:
		return judgeRunning(s.JobStatus)
	case rayv1.JobDeploymentStatusComplete:
		return judgeComplete(s)
	case rayv1.JobDeploymentStatusFailed:
		return judgeFailed(s)
	case rayv1.JobDeploymentStatusValidationFailed:
		reason := rayjob.OneLine("KubeRay rejected the RayJob; ask the administrator of the extractor: "+s.Message, rayjob.MaxReason)
		return rayjob.Observation{Verdict: rayjob.Failed, Reason: reason, Final: true}, true
	default:
		return rayjob.Observation{Verdict: rayjob.Running}, false
	}
}

// judgeRunning is for a RayJob whose cluster is up. Ray's own status is the last one that the KubeRay operator has seen.
func judgeRunning(status rayv1.JobStatus) (rayjob.Observation, bool) {
	switch status {
	case rayv1.JobStatusNew, rayv1.JobStatusPending:
		return rayjob.Observation{Verdict: rayjob.Pending, Notice: "waiting for Ray to start the job"}, true
	case rayv1.JobStatusRunning:
		return rayjob.Observation{Verdict: rayjob.Running}, true
	case rayv1.JobStatusStopped, rayv1.JobStatusSucceeded, rayv1.JobStatusFailed: // the KubeRay operator will report it soon
		return rayjob.Observation{Verdict: rayjob.Running}, true
	default:
		return rayjob.Observation{Verdict: rayjob.Running}, false
	}
}

// judgeComplete is for a completed RayJob. This does not say how the job ended: a stopped job is complete as well.
func judgeComplete(s rayv1.RayJobStatus) (rayjob.Observation, bool) {
	switch s.JobStatus {
	case rayv1.JobStatusSucceeded:
		return rayjob.Observation{Verdict: rayjob.Succeeded}, true
	case rayv1.JobStatusStopped:
		return rayjob.Observation{Verdict: rayjob.Stopped, Reason: "the training was stopped on the Ray cluster"}, true
	case rayv1.JobStatusFailed:
		return rayjob.Observation{Verdict: rayjob.Failed, Reason: rayjob.Failure{Message: s.Message}.Reason()}, true
	case rayv1.JobStatusNew, rayv1.JobStatusPending, rayv1.JobStatusRunning:
		return rayjob.Observation{Verdict: rayjob.Failed, Reason: "KubeRay ended the training without a reason"}, true
	default:
		return rayjob.Observation{Verdict: rayjob.Failed, Reason: rayjob.OneLine("the training ended with the unknown status "+string(s.JobStatus), rayjob.MaxReason)}, false
	}
}

// judgeFailed is for a failed RayJob. KubeRay may not know how the job ended, so the caller checks the run folder before it
// believes a failure.
func judgeFailed(s rayv1.RayJobStatus) (rayjob.Observation, bool) {
	failed := func(reason string) (rayjob.Observation, bool) {
		return rayjob.Observation{Verdict: rayjob.Failed, Reason: rayjob.OneLine(reason, rayjob.MaxReason)}, true
	}
	switch s.Reason {
	case rayv1.AppFailed:
		return failed(rayjob.Failure{Message: s.Message}.Reason())
	case rayv1.DeadlineExceeded:
		return failed("the training took longer than its time limit")
	case rayv1.PreRunningDeadlineExceeded:
		return failed("the cluster had no free resources for the training in time: try again later or choose a smaller profile")
	case rayv1.SubmissionFailed:
		return failed("KubeRay could not submit the training to Ray: " + s.Message)
	case rayv1.JobDeploymentStatusTransitionGracePeriodExceeded:
		return failed("KubeRay lost track of the training")
	case rayv1.ValidationFailed:
		return failed("KubeRay rejected the RayJob: " + s.Message)
	default:
		obs, _ := failed("KubeRay ended the training (" + string(s.Reason) + "): " + s.Message)
		return obs, s.Reason == ""
	}
}
