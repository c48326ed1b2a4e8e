package kuberay

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/pkg/client/clientset/versioned"
	rayinformers "github.com/ray-project/kuberay/ray-operator/pkg/client/informers/externalversions"
	raylisters "github.com/ray-project/kuberay/ray-operator/pkg/client/listers/ray/v1"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ncsa/clowder-ray/internal/rayjob"
)

// backendName is the name of this backend in handles.
const backendName = "kuberay"

// Client runs attempts as RayJobs in one namespace. It is safe for concurrent use. While Run is running, it answers from a
// cache of the API server's objects; otherwise every read is a request.
type Client struct {
	cfg    Config
	log    *zap.Logger
	access *Access
	core   kubernetes.Interface
	ray    versioned.Interface
	any    dynamic.Interface

	rayFactory  rayinformers.SharedInformerFactory
	coreFactory informers.SharedInformerFactory
	jobs        raylisters.RayJobNamespaceLister
	clusters    raylisters.RayClusterNamespaceLister
	pods        cache.Indexer
	synced      atomic.Bool

	notices   notices
	workloads *rayjob.Cached[workloads]
	capacity  *rayjob.Cached[capacity]
	warned    rayjob.OnceEach // unknown statuses
	// stuckAfter is how long the KubeRay operator may take to delete a RayJob.
	stuckAfter time.Duration

	mu       sync.Mutex
	stopping map[string]time.Time // when each attempt was first asked to end
}

var (
	_ rayjob.Backend = (*Client)(nil)
	_ rayjob.Lister  = (*Client)(nil)

	_ rayjob.Isolator = (*Client)(nil)
)

// Access is how the API server is reached.
type Access struct {
	Config *rest.Config
	// Namespace is the namespace of the credentials.
	Namespace string
	// Inside says that this program runs in the cluster, where service names can be resolved.
	Inside bool
	// Dashboards transports the requests to Ray's dashboards inside the cluster; nil means direct connections.
	Dashboards http.RoundTripper
}

// Credentials returns the credentials in the file kubeconfig. If kubeconfig is empty, it returns those of the pod in which
// this program runs, or else those of the default kubeconfig.
func Credentials(kubeconfig string) (*Access, error) {
	if kubeconfig == "" {
		if conf, err := rest.InClusterConfig(); err == nil {
			namespace, _, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(&clientcmd.ClientConfigLoadingRules{}, nil).Namespace()
			return &Access{Config: conf, Namespace: namespace, Inside: true}, err
		}
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil)
	conf, err := loaded.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("KUBECONFIG: no access to a Kubernetes cluster: %w", err)
	}
	namespace, _, err := loaded.Namespace()
	return &Access{Config: conf, Namespace: namespace}, err
}

// freeEvery is the time between two searches for RayJobs whose deletion is stuck.
const freeEvery = time.Minute

// New returns a client. It sends no request; Check and Run do.
func New(cfg Config, access *Access, log *zap.Logger) (*Client, error) {
	if cfg.Namespace == "" {
		cfg.Namespace = access.Namespace
	}
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("KUBERAY_CONFIG: %w", err)
	}
	conf := rest.CopyConfig(access.Config)
	conf.UserAgent, conf.QPS, conf.Burst = manager, 100, 200
	access = &Access{Config: conf, Namespace: access.Namespace, Inside: access.Inside, Dashboards: access.Dashboards}
	if access.Dashboards == nil {
		access.Dashboards = direct
	}
	web, err := rest.HTTPClientFor(conf)
	if err != nil {
		return nil, fmt.Errorf("KUBECONFIG: %w", err)
	}
	c := &Client{cfg: cfg, log: log.Named("kuberay"), access: access, stuckAfter: stuckAfter, stopping: map[string]time.Time{}}
	if err := c.connect(conf, web); err != nil {
		return nil, fmt.Errorf("KUBECONFIG: %w", err)
	}
	c.workloads = rayjob.NewCached(workloadsAge, c.listWorkloads)
	c.capacity = rayjob.NewCached(capacityAge, c.readCapacity)
	c.inform()
	return c, nil
}

// connect creates the typed clients on one pool of connections.
func (c *Client) connect(conf *rest.Config, web *http.Client) (err error) {
	if c.core, err = kubernetes.NewForConfigAndClient(conf, web); err != nil {
		return err
	}
	if c.ray, err = versioned.NewForConfigAndClient(conf, web); err != nil {
		return err
	}
	c.any, err = dynamic.NewForConfigAndClient(conf, web)
	return err
}

// inform prepares the caches of the RayJobs, clusters and pods of this instance.
func (c *Client) inform() {
	ours := func(o *metav1.ListOptions) { o.LabelSelector = c.cfg.selector("") }
	c.rayFactory = rayinformers.NewSharedInformerFactoryWithOptions(c.ray, 0, rayinformers.WithNamespace(c.cfg.Namespace),
		rayinformers.WithTweakListOptions(ours), rayinformers.WithTransform(trim))
	c.coreFactory = informers.NewSharedInformerFactoryWithOptions(c.core, 0, informers.WithNamespace(c.cfg.Namespace),
		informers.WithTweakListOptions(ours), informers.WithTransform(trim))
	c.jobs = c.rayFactory.Ray().V1().RayJobs().Lister().RayJobs(c.cfg.Namespace)
	c.clusters = c.rayFactory.Ray().V1().RayClusters().Lister().RayClusters(c.cfg.Namespace)
	c.pods = c.coreFactory.Core().V1().Pods().Informer().GetIndexer()
	// It fails only for an informer that runs.
	_ = c.pods.AddIndexers(cache.Indexers{byAttempt: func(object any) ([]string, error) {
		m, err := meta.Accessor(object)
		if err != nil {
			return nil, err
		}
		return []string{attemptOf(m)}, nil
	}})
}

// byAttempt is the index of the pods by their attempt. Without it each look at one run would search the pods of all runs.
const byAttempt = "attempt"

// attemptOf names the attempt that an object belongs to by its labels.
func attemptOf(object metav1.Object) string {
	labels := object.GetLabels()
	return labels[labelRun] + "/" + labels[labelAttempt]
}

// trim drops the unused fields, which are most of an object, so that a thousand runs fit into memory.
func trim(object any) (any, error) {
	if m, err := meta.Accessor(object); err == nil {
		m.SetManagedFields(nil)
		m.SetAnnotations(nil)
	}
	switch o := object.(type) {
	case *rayv1.RayJob:
		o.Spec.RayClusterSpec, o.Spec.RuntimeEnvYAML, o.Status.RayClusterStatus = nil, "", rayv1.RayClusterStatus{}
	case *rayv1.RayCluster:
		trimCluster(&o.Spec)
	case *corev1.Pod:
		o.Spec.Volumes = nil
		for _, list := range [][]corev1.Container{o.Spec.Containers, o.Spec.InitContainers} {
			for i := range list {
				list[i].Env, list[i].VolumeMounts, list[i].Command, list[i].Args = nil, nil, nil, nil
			}
		}
	}
	return object, nil
}

// trimCluster keeps the sizes of the groups and the resources of their pods.
func trimCluster(spec *rayv1.RayClusterSpec) {
	templates := []*corev1.PodTemplateSpec{&spec.HeadGroupSpec.Template}
	for i := range spec.WorkerGroupSpecs {
		templates = append(templates, &spec.WorkerGroupSpecs[i].Template)
	}
	for _, t := range templates {
		t.Spec.Volumes = nil
		for i := range t.Spec.Containers {
			box := &t.Spec.Containers[i]
			box.Env, box.VolumeMounts, box.ReadinessProbe = nil, nil, nil
		}
	}
}

// Run keeps the caches up to date and frees RayJobs whose deletion is stuck, until ctx ends. It always returns nil: it waits
// for an unreachable API server.
func (c *Client) Run(ctx context.Context) error {
	var wait sync.WaitGroup
	defer wait.Wait()
	defer c.coreFactory.Shutdown()
	defer c.rayFactory.Shutdown()
	pods := c.coreFactory.Core().V1().Pods().Informer().HasSynced
	jobs := c.rayFactory.Ray().V1().RayJobs().Informer().HasSynced
	clusters := c.rayFactory.Ray().V1().RayClusters().Informer().HasSynced
	c.rayFactory.Start(ctx.Done())
	c.coreFactory.Start(ctx.Done())
	wait.Go(func() {
		if cache.WaitForCacheSync(ctx.Done(), jobs, clusters, pods) {
			c.synced.Store(true)
		}
	})
	defer c.synced.Store(false)

	tick := time.NewTicker(freeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			c.freeStuck(ctx)
		}
	}
}
