package kuberay

import (
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// Pauses before the next try where only time or a person helps.
const (
	settingPause = 30 * time.Second
	quotaPause   = 30 * time.Second
)

// setting words a fault that lasts until the operator mends it. Jobs wait meanwhile.
func setting(text string) error {
	return job.Later(settingPause, &rayjob.SettingError{Setting: "KUBERAY_CONFIG", Text: text})
}

// fault is the one table from an answer of the API server to what it means; what says what was tried. Creating twice does
// no harm, since names decide, so nothing here is of unknown outcome.
func (c *Client) fault(err error, what string) error {
	if err == nil {
		return nil
	}
	text := rayjob.OneLine(err.Error(), rayjob.MaxReason)
	switch {
	case meta.IsNoMatchError(err), noResource(err):
		return setting("KUBERAY_CONFIG: this Kubernetes cluster knows no RayJob: install the KubeRay operator with its definitions")
	case apierrors.IsUnauthorized(err):
		return setting("KUBERAY_CONFIG: the API server does not accept the credentials: mend KUBECONFIG or the service account")
	case apierrors.IsNotFound(err) && kind(err) == "namespaces":
		return setting(fmt.Sprintf("KUBERAY_CONFIG: there is no namespace %s: create it, or set namespace to another one", c.cfg.Namespace))
	case apierrors.IsForbidden(err), strings.Contains(text, "denied request"): // a policy may answer that the object is invalid
		return c.forbidden(err, what)
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		return job.Permanent(fmt.Errorf("Kubernetes does not accept the training, ask the operator of the extractor to mend KUBERAY_CONFIG: %s", text)) //nolint:staticcheck // begins with a name
	}
	err = fmt.Errorf("%s in the namespace %s: %w", what, c.cfg.Namespace, err)
	if after, ok := apierrors.SuggestsClientDelay(err); ok {
		return job.Later(time.Duration(after)*time.Second, err)
	}
	return job.Retryable(err)
}

// forbidden tells apart who refused: the quota, an admission policy, or the rights of the service.
func (c *Client) forbidden(err error, what string) error {
	text := err.Error()
	switch {
	case strings.Contains(text, "exceeded quota"):
		return job.Later(quotaPause, &rayjob.WaitError{Text: "waiting for the quota of the cluster to have room for another training"})
	case strings.Contains(text, "is being terminated"):
		return setting(fmt.Sprintf("KUBERAY_CONFIG: the namespace %s is being deleted: set another one", c.cfg.Namespace))
	case strings.Contains(text, "denied request"), strings.Contains(text, "denied the request"), strings.Contains(text, "violates"):
		return job.Permanent(fmt.Errorf("a policy of the Kubernetes cluster refuses the training, ask its operator: %s", rayjob.OneLine(text, rayjob.MaxReason)))
	default:
		return setting(fmt.Sprintf("KUBERAY_CONFIG: the service may not %s in the namespace %s: give its account the rights of the Helm chart's Role", what, c.cfg.Namespace))
	}
}

// missing says that the API server has no such object. A resource that it does not know, or a namespace, is a fault of the
// settings and not this.
func missing(err error) bool {
	if _, ok := errors.AsType[*rayjob.SettingError](err); ok {
		return false
	}
	return apierrors.IsNotFound(err)
}

// noResource reports the answer of an API server that lacks the definition of a resource; it names no object.
func noResource(err error) bool {
	details := details(err)
	return apierrors.IsNotFound(err) && (details == nil || details.Name == "")
}

// kind is what the object of an error is, in the plural of the API.
func kind(err error) string {
	if details := details(err); details != nil {
		return details.Kind
	}
	return ""
}

func details(err error) *metav1.StatusDetails {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Details
	}
	return nil
}
