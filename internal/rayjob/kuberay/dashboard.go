package kuberay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/jobsapi"
	"github.com/ncsa/clowder-ray/internal/rayjob/kuberay/explain"
)

// Logs implements rayjob.Backend. Ray keeps the output of a training as long as its cluster lives.
func (c *Client) Logs(ctx context.Context, h rayjob.Handle, w io.Writer) error {
	rj, err := c.live(ctx, h.ID)
	if missing(err) || err == nil && rj.Status.DashboardURL == "" {
		return job.Permanent(rayjob.ErrNoLogs)
	}
	if err != nil {
		return err
	}
	ray, err := c.dashboard(ctx, rj)
	if missing(err) { // the cluster was deleted before its RayJob
		return job.Permanent(rayjob.ErrNoLogs)
	}
	if err != nil {
		return err
	}
	return ray.Logs(ctx, h, w)
}

// dashboard returns a client of the Ray that runs the job.
func (c *Client) dashboard(ctx context.Context, rj *rayv1.RayJob) (*jobsapi.Client, error) {
	if cluster := explain.StandingCluster(rj); cluster != "" {
		return c.standingDashboard(ctx, cluster)
	}
	if _, err := c.ray.RayV1().RayClusters(c.cfg.Namespace).Get(ctx, rj.Status.RayClusterName, metav1.GetOptions{}); err != nil {
		return nil, c.fault(err, "look for a RayCluster")
	}
	host, _, err := net.SplitHostPort(rj.Status.DashboardURL)
	if err != nil {
		return nil, job.Retryable(fmt.Errorf("parse the address of the Ray cluster of %s: %w", rj.Name, err))
	}
	return c.rayClient(ctx, host, rj.Name)
}

// standingDashboard returns a client of a standing RayCluster. missing(err) reports that the cluster does not exist.
func (c *Client) standingDashboard(ctx context.Context, name string) (*jobsapi.Client, error) {
	cluster, err := c.ray.RayV1().RayClusters(c.cfg.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, c.fault(err, "look for a RayCluster")
	}
	service, err := utils.GenerateHeadServiceName(utils.RayClusterCRD, cluster.Spec, name)
	if err != nil {
		return nil, job.Retryable(fmt.Errorf("find the service of the RayCluster %s: %w", name, err))
	}
	secret := ""
	if auth := cluster.Spec.AuthOptions; auth != nil && auth.Mode == rayv1.AuthModeToken {
		secret = utils.CheckName(name)
		if auth.SecretName != nil && *auth.SecretName != "" {
			secret = *auth.SecretName
		}
	}
	return c.rayClient(ctx, service+"."+c.cfg.Namespace+".svc", secret)
}

// rayClient returns a client of the dashboard behind a service: directly inside the cluster, else through the API server. The
// Secret of that name holds the token; an empty name means no token.
func (c *Client) rayClient(ctx context.Context, host, secret string) (*jobsapi.Client, error) {
	cfg := jobsapi.Config{Address: "http://" + net.JoinHostPort(host, strconv.Itoa(utils.DefaultDashboardPort)), Transport: c.access.Dashboards}
	if !c.access.Inside {
		proxy, err := rest.TransportFor(c.access.Config)
		if err != nil {
			return nil, job.Retryable(fmt.Errorf("reach Ray through the API server: %w", err))
		}
		service, _, _ := strings.Cut(host, ".")
		cfg.Address = fmt.Sprintf("%s/api/v1/namespaces/%s/services/http:%s:%d/proxy",
			strings.TrimRight(c.access.Config.Host, "/"), c.cfg.Namespace, service, utils.DefaultDashboardPort)
		cfg.Transport = proxy
	}
	if secret != "" {
		found, err := c.core.CoreV1().Secrets(c.cfg.Namespace).Get(ctx, secret, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil, job.Retryable(errors.New("the token of the Ray cluster was deleted"))
		case err != nil:
			return nil, c.fault(err, "read a Secret")
		}
		cfg.Token = job.Secret(strings.TrimSpace(string(found.Data[utils.RAY_AUTH_TOKEN_SECRET_KEY])))
	}
	return jobsapi.New(cfg, c.log)
}

// direct is shared by all clusters, so that no client has connections to close. Proxies of the environment are not used: the
// token would pass through them.
var direct http.RoundTripper = &http.Transport{DisableKeepAlives: true}
