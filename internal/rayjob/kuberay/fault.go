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

// Pauses before the next attempt when only time or a person can help.
const (
	settingPause = 30 * time.Second
	quotaPause   = 30 * time.Second
)

// setting is an error that lasts until the administrator corrects a setting. Jobs wait meanwhile.
func setting(text string) error {
	return job.Later(settingPause, &rayjob.SettingError{Setting: "KUBERAY_CONFIG", Text: text})
}

// fault is the only table from an answer of the API server to its meaning; what names the action. No error here is of unknown
// outcome, since names are unique and an object is not created twice.
func (c *Client) fault(err error, what string) error {
	if err == nil {
		return nil
	}
	text := rayjob.OneLine(err.Error(), rayjob.MaxReason)
	switch {
	case meta.IsNoMatchError(err), noResource(err):
		return setting("KUBERAY_CONFIG: this Kubernetes cluster does not know RayJobs: install the KubeRay operator with its definitions")
	case apierrors.IsUnauthorized(err):
		return setting("KUBERAY_CONFIG: the API server rejects the credentials: correct KUBECONFIG or the service account")
	case apierrors.IsNotFound(err) && kind(err) == "namespaces":
		return setting(fmt.Sprintf("KUBERAY_CONFIG: the namespace %s does not exist: create it or set another namespace", c.cfg.Namespace))
	case apierrors.IsForbidden(err), strings.Contains(text, "denied request"): // some policies answer that the object is invalid
		return c.forbidden(err, what)
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsRequestEntityTooLargeError(err):
		return job.Permanent(fmt.Errorf("Kubernetes rejected the RayJob: %s; ask the administrator of the extractor to correct KUBERAY_CONFIG", text)) //nolint:staticcheck // begins with a name
	}
	err = fmt.Errorf("%s in the namespace %s: %w", what, c.cfg.Namespace, err)
	if after, ok := apierrors.SuggestsClientDelay(err); ok {
		return job.Later(time.Duration(after)*time.Second, err)
	}
	return job.Retryable(err)
}

// forbidden distinguishes who rejected the request: a quota, an admission policy, or the access rights of the service.
func (c *Client) forbidden(err error, what string) error {
	text := err.Error()
	switch {
	case strings.Contains(text, "exceeded quota"):
		return job.Later(quotaPause, &rayjob.WaitError{Text: "waiting until the quota of the cluster has room for another training"})
	case strings.Contains(text, "is being terminated"):
		return setting(fmt.Sprintf("KUBERAY_CONFIG: the namespace %s is being deleted: set another namespace", c.cfg.Namespace))
	case strings.Contains(text, "denied request"), strings.Contains(text, "denied the request"), strings.Contains(text, "violates"):
		return job.Permanent(fmt.Errorf("a policy of the Kubernetes cluster denies the training: %s; ask the administrator of the cluster", rayjob.OneLine(text, rayjob.MaxReason)))
	default:
		return setting(fmt.Sprintf("KUBERAY_CONFIG: the service is not allowed to %s in the namespace %s: grant its account the rights of the Helm chart's Role", what, c.cfg.Namespace))
	}
}

// missing reports that the API server has no such object. An unknown resource or namespace is an error of the settings instead.
func missing(err error) bool {
	if _, ok := errors.AsType[*rayjob.SettingError](err); ok {
		return false
	}
	return apierrors.IsNotFound(err)
}

// noResource reports that the API server has no definition of the resource. Such an answer names no object.
func noResource(err error) bool {
	details := details(err)
	return apierrors.IsNotFound(err) && (details == nil || details.Name == "")
}

// kind returns the kind of the object that an error is about, in the plural of the API.
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
