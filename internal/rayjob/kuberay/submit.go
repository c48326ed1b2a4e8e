package kuberay

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// Pauses before a submission is repeated.
const (
	deletionPause = 2 * time.Second
	windowPause   = 10 * time.Minute
)

// Submit implements rayjob.Backend. The name makes it idempotent: a RayJob is created once and found afterwards. Its token is
// created first, since the pods need it, and is owned by the RayJob, so that it is deleted last.
func (c *Client) Submit(ctx context.Context, a rayjob.Attempt) (rayjob.Handle, error) {
	if err := a.Check(); err != nil {
		return rayjob.Handle{}, err
	}
	if found, err := c.live(ctx, a.Name()); err == nil {
		return c.adopt(ctx, a, found)
	} else if !missing(err) {
		return rayjob.Handle{}, err
	}
	p, err := c.profile(a.Resources)
	if err != nil {
		return rayjob.Handle{}, err
	}
	if a.Script && p.Cluster == "" {
		if err := c.cfg.checkScript(a.Resources.Workers); err != nil {
			return rayjob.Handle{}, err
		}
	}
	if p.Cluster == "" {
		if a.Reads, err = c.cfg.present(a.Reads); err != nil {
			return rayjob.Handle{}, err
		}
	}
	rj, err := c.cfg.newRayJob(a, p)
	if err != nil {
		return rayjob.Handle{}, err
	}
	if err := c.prepare(ctx, rj, p); err != nil {
		return rayjob.Handle{}, err
	}
	if needsPolicy(a, p) {
		if err := c.createPolicy(ctx, newPolicy(a, rj)); err != nil {
			return rayjob.Handle{}, err
		}
	}
	made, err := c.ray.RayV1().RayJobs(c.cfg.Namespace).Create(ctx, rj, metav1.CreateOptions{FieldManager: manager})
	switch {
	case apierrors.IsAlreadyExists(err):
		if made, err = c.live(ctx, a.Name()); err != nil {
			return rayjob.Handle{}, err
		}
	case err != nil:
		return rayjob.Handle{}, c.fault(err, "create a RayJob")
	}
	return c.adopt(ctx, a, made)
}

// prepare creates and checks what the RayJob needs.
func (c *Client) prepare(ctx context.Context, rj *rayv1.RayJob, p Profile) error {
	if p.Window != nil {
		if wait := p.Window.opens(time.Now()); wait > 0 {
			text := fmt.Sprintf("waiting until %s, when runs with the profile %s may start", p.Window.From, p.Name)
			return job.Later(min(wait, windowPause), &rayjob.WaitError{Text: text})
		}
	}
	if p.Cluster != "" {
		if err := c.standing(ctx, p); err != nil {
			return err
		}
		// An old entry of this name in Ray has lost its RayJob, and KubeRay would take it for the new one.
		return c.removeEntry(ctx, rayjob.Handle{ID: rj.Name, Cluster: p.Cluster})
	}
	if why := c.impossible(ctx, rj.Spec.RayClusterSpec); why != "" {
		return job.Permanent(errors.New(why))
	}
	return c.createToken(ctx, rj)
}

// profile returns the profile that the resources name, or else the first one that meets them.
func (c *Client) profile(r rayjob.Resources) (Profile, error) {
	names := strings.Join(c.cfg.Names(), ", ")
	i := slices.IndexFunc(c.cfg.Profiles, func(p Profile) bool {
		return r.Profile == p.Name || r.Profile == "" && (!r.GPU || p.GPU > 0 || p.Cluster != "")
	})
	switch {
	case i < 0 && r.Profile != "":
		return Profile{}, job.Permanent(fmt.Errorf("the profile %q does not exist: choose one of %s", rayjob.OneLine(r.Profile, 40), names))
	case i < 0:
		return Profile{}, job.Permanent(errors.New("no profile of this extractor has a GPU: set GPU to auto or no"))
	}
	p := c.cfg.Profiles[i]
	switch {
	case r.GPU && p.GPU == 0 && p.Cluster == "":
		return Profile{}, job.Permanent(fmt.Errorf("the profile %s has no GPU: set GPU to auto or no, or choose another profile of %s", p.Name, names))
	case p.MaxWorkers > 0 && r.Workers > p.MaxWorkers:
		return Profile{}, job.Permanent(fmt.Errorf("%d workers exceed the limit of %d of the profile %s: choose fewer workers", r.Workers, p.MaxWorkers, p.Name))
	}
	return p, nil
}

// standing checks that the cluster of the profile exists. KubeRay would wait for it without a message.
func (c *Client) standing(ctx context.Context, p Profile) error {
	_, err := c.ray.RayV1().RayClusters(c.cfg.Namespace).Get(ctx, p.Cluster, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return setting(fmt.Sprintf("KUBERAY_CONFIG: the profile %s uses the RayCluster %s, which does not exist in the namespace %s: create it", p.Name, p.Cluster, c.cfg.Namespace))
	}
	return c.fault(err, "look for a RayCluster")
}

// createToken creates the token of the attempt's cluster.
func (c *Client) createToken(ctx context.Context, rj *rayv1.RayJob) error {
	token := make([]byte, 32)
	_, _ = rand.Read(token) // never fails
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: rj.Name, Namespace: rj.Namespace, Labels: rj.Labels},
		StringData: map[string]string{utils.RAY_AUTH_TOKEN_SECRET_KEY: hex.EncodeToString(token)},
	}
	return create(ctx, c, c.core.CoreV1().Secrets(rj.Namespace), secret, "a Secret")
}

// objects are the objects of one kind in a namespace.
type objects[T metav1.Object] interface {
	Create(context.Context, T, metav1.CreateOptions) (T, error)
	Get(context.Context, string, metav1.GetOptions) (T, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
}

// create creates what the RayJob of the same name needs, before the RayJob. An object that exists without an owner is kept: it is from a service
// that was killed before it created the RayJob. An object that a deleted RayJob owned is replaced: Kubernetes deletes it at some later time, when
// the new RayJob would need it.
func create[T metav1.Object](ctx context.Context, c *Client, in objects[T], want T, kind string) error {
	_, err := in.Create(ctx, want, metav1.CreateOptions{FieldManager: manager})
	if !apierrors.IsAlreadyExists(err) {
		return c.fault(err, "create "+kind)
	}
	switch found, err := in.Get(ctx, want.GetName(), metav1.GetOptions{}); {
	case apierrors.IsNotFound(err): // Kubernetes has deleted it in the meantime
	case err != nil:
		return c.fault(err, "read "+kind)
	case metav1.GetControllerOf(found) == nil:
		return nil
	default:
		if err := removeOwned(ctx, c, in, found, kind); err != nil {
			return err
		}
	}
	_, err = in.Create(ctx, want, metav1.CreateOptions{FieldManager: manager})
	return c.fault(err, "create "+kind)
}

// removeOwned deletes what a deleted RayJob owned, if Kubernetes has not deleted it yet.
func removeOwned[T metav1.Object](ctx context.Context, c *Client, in objects[T], found T, kind string) error {
	switch _, err := c.live(ctx, found.GetName()); {
	case err == nil:
		return job.Retryable(errors.New("another service has just created the RayJob"))
	case !missing(err):
		return err
	}
	same := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(found.GetUID()))}
	if err := in.Delete(ctx, found.GetName(), same); !apierrors.IsNotFound(err) {
		return c.fault(err, "delete "+kind)
	}
	return nil
}

// adopt checks that a RayJob belongs to the attempt, and makes it the owner of its token.
func (c *Client) adopt(ctx context.Context, a rayjob.Attempt, rj *rayv1.RayJob) (rayjob.Handle, error) {
	switch {
	case !a.Owns(rj.Labels[labelRun], rj.Labels[labelAttempt], rj.Spec.Entrypoint) || rj.Labels[labelInstance] != c.cfg.Instance:
		return rayjob.Handle{}, job.Permanent(fmt.Errorf("the namespace %s already has another RayJob named %s: ask the administrator of the extractor "+
			"to check whether two services use this namespace", c.cfg.Namespace, rj.Name))
	case rj.DeletionTimestamp != nil:
		return rayjob.Handle{}, job.Later(deletionPause, errors.New("waiting until an earlier RayJob of the same name is deleted"))
	}
	h := handleOf(rj)
	if h.Cluster != "" {
		return h, nil
	}
	if err := c.giveToken(ctx, rj); err != nil {
		return h, err
	}
	if a.Script && a.Resources.Workers > 1 {
		return h, c.givePolicy(ctx, rj)
	}
	return h, nil
}

// giveToken makes the RayJob the owner of its Secret. Kubernetes then deletes the Secret after the RayJob, and not while KubeRay
// needs it to end the job.
func (c *Client) giveToken(ctx context.Context, rj *rayv1.RayJob) error {
	patch, err := ownedBy(rj)
	if err != nil {
		return err
	}
	_, err = c.core.CoreV1().Secrets(c.cfg.Namespace).Patch(ctx, rj.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager})
	if apierrors.IsNotFound(err) {
		return nil // an earlier release deleted it; the RayJob ends at its own deadline or is released again
	}
	return c.fault(err, "change a Secret")
}

// ownedBy returns the patch that makes a RayJob the owner of an object.
func ownedBy(rj *rayv1.RayJob) ([]byte, error) {
	owner := metav1.NewControllerRef(rj, rayv1.GroupVersion.WithKind("RayJob"))
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"ownerReferences": []any{owner}}})
	if err != nil {
		return nil, fmt.Errorf("encode the owner of an object: %w", err)
	}
	return patch, nil
}

// live requests the RayJob from the API server. Its error has a kind; missing(err) reports that it does not exist.
func (c *Client) live(ctx context.Context, name string) (*rayv1.RayJob, error) {
	rj, err := c.ray.RayV1().RayJobs(c.cfg.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, c.fault(err, "look for a RayJob")
	}
	return rj, nil
}
