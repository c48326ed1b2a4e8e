package kuberay

import (
	"errors"
	"testing"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// TestEveryAnswerOfTheAPIServerHasAMeaning checks what an answer means for the job, and who reads the text.
func TestEveryAnswerOfTheAPIServerHasAMeaning(t *testing.T) {
	t.Parallel()
	rayjobs, pods := resourceOf("ray.io", "rayjobs"), resourceOf("", "pods")
	noKind := &meta.NoKindMatchError{}
	const (
		operator = "KUBERAY_CONFIG" // the administrator reads it, and jobs wait
		waits    = "wait"           // the user reads why the job waits
		neither  = ""
	)
	for name, tc := range map[string]struct {
		err   error
		kind  job.Kind
		after time.Duration
		who   string
		want  string
	}{
		"RayJobs are unknown": {noKind, job.KindLater, settingPause, operator, "install the KubeRay operator"},
		"RayJobs have no definition": {
			&apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonNotFound, Message: "the server could not find the requested resource"}},
			job.KindLater, settingPause, operator, "install the KubeRay operator",
		},
		"the credentials are rejected": {apierrors.NewUnauthorized("expired"), job.KindLater, settingPause, operator, "correct KUBECONFIG or the service account"},
		"the namespace does not exist": {apierrors.NewNotFound(resourceOf("", "namespaces"), "research"), job.KindLater, settingPause, operator, "create it or set another namespace"},
		"the namespace is being deleted": {
			apierrors.NewForbidden(rayjobs, "x", errors.New("unable to create new content in namespace research because it is being terminated")),
			job.KindLater, settingPause, operator, "set another namespace",
		},
		"there are no rights": {apierrors.NewForbidden(rayjobs, "x", errors.New("User cannot create")), job.KindLater, settingPause, operator, "grant its account the rights"},
		"a quota is full": {
			apierrors.NewForbidden(pods, "x", errors.New("exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2")),
			job.KindLater, quotaPause, waits, "waiting until the quota of the cluster has room",
		},
		"a policy denies it": {apierrors.NewForbidden(rayjobs, "x", errors.New("admission webhook \"p\" denied the request: no GPUs\nat night")), job.KindPermanent, 0, neither, "no GPUs at night; ask the administrator of the cluster"},
		"a policy denies it as invalid": {
			apierrors.NewInvalid(rayv1.GroupVersion.WithKind("RayJob").GroupKind(), "x", nil), job.KindPermanent, 0, neither, "correct KUBERAY_CONFIG",
		},
		"Pod Security denies it":    {apierrors.NewForbidden(pods, "x", errors.New("violates PodSecurity \"restricted:latest\"")), job.KindPermanent, 0, neither, "a policy of the Kubernetes cluster denies the training"},
		"the request is bad":        {apierrors.NewBadRequest("unknown field\nspec.x"), job.KindPermanent, 0, neither, "unknown field spec.x; ask the administrator"},
		"the RayJob is too large":   {apierrors.NewRequestEntityTooLargeError("limit is 3145728"), job.KindPermanent, 0, neither, "correct KUBERAY_CONFIG"},
		"there are too many calls":  {apierrors.NewTooManyRequests("slow down", 7), job.KindLater, 7 * time.Second, neither, "slow down"},
		"the server is overloaded":  {apierrors.NewServerTimeout(rayjobs, "get", 3), job.KindLater, 3 * time.Second, neither, "look in the namespace research"},
		"an unavailable server":     {apierrors.NewServiceUnavailable("etcd"), job.KindRetryable, 0, neither, "look in the namespace research"},
		"no connection":             {errors.New("dial tcp: connection refused"), job.KindRetryable, 0, neither, "connection refused"},
		"an object that is missing": {apierrors.NewNotFound(rayjobs, "ft-one-a1"), job.KindRetryable, 0, neither, "ft-one-a1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &Client{cfg: example()}
			err := c.fault(tc.err, "look")
			kind, after := job.Classify(err)
			require.Equal(t, tc.kind, kind, "%v", err)
			require.Equal(t, tc.after, after)
			require.ErrorContains(t, err, tc.want)
			require.NotContains(t, err.Error(), "\n")
			setting, isSetting := errors.AsType[*rayjob.SettingError](err)
			require.Equal(t, tc.who == operator, isSetting)
			if isSetting {
				require.Equal(t, "KUBERAY_CONFIG", setting.Setting)
			}
			_, isWait := errors.AsType[*rayjob.WaitError](err)
			require.Equal(t, tc.who == waits, isWait)
			require.Equal(t, name == "an object that is missing", missing(err), "only an object that is gone counts as missing")
		})
	}
	require.NoError(t, (&Client{}).fault(nil, "look"))
}
