//go:build kuberay

package kuberay

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ray-project/kuberay/ray-operator/pkg/client/clientset/versioned"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/stack"
)

const (
	extractor = "ncsa.ray.finetune"
	user      = "alice@example.org"
	release   = "clowder-ray"
	// testTimeout is for one training with the start of its cluster, on a small machine that does other things too.
	testTimeout = 10 * time.Minute
)

// fixture is a namespace with the chart in it, and a broker and a Clowder outside of the cluster.
type fixture struct {
	namespace string
	conf      *rest.Config
	core      kubernetes.Interface
	ray       versioned.Interface
	clowder   *clowdertest.Server
	session   *clowder.Session
	// claim is the shared volume's, and shared where it lies on this machine.
	claim, shared string
}

// newFixture installs the chart and returns when Clowder could submit to the service. Its pods request little of a small machine.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixtureOf(t, "200m")
}

// newFixtureOf is a fixture whose pods of Ray request so many CPUs each.
func newFixtureOf(t *testing.T, cpu string) *fixture {
	t.Helper()
	conf, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	require.NoError(t, err, "run make e2e-kuberay, which starts a cluster")
	web, err := rest.HTTPClientFor(conf)
	require.NoError(t, err)
	t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(web.Transport) }) // the client itself does not reach through its wrappers
	w := &fixture{conf: conf}
	w.core, err = kubernetes.NewForConfigAndClient(conf, web)
	require.NoError(t, err)
	w.ray, err = versioned.NewForConfigAndClient(conf, web)
	require.NoError(t, err)
	w.makeNamespace(t)

	here := w.address(t)
	uri := broker.ForTest(t).Vhost(t)
	w.clowder, err = clowdertest.New(clowdertest.Options{AMQPURI: uri, Listen: here + ":0", Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.clowder.Close()) })
	client, err := clowder.NewClient(clowder.Config{URL: w.clowder.URL, Cache: disk.Folder{Volume: t.TempDir()}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	w.session = client.As(job.Secret(w.clowder.Key(user)))
	w.install(t, relay(t, here, uri), cpu)
	return w
}

// makeNamespace makes a namespace of the level restricted, which is gone with all in it after the test. One that a killed test has
// left goes now: it holds two of the four volumes.
func (w *fixture) makeNamespace(t *testing.T) {
	t.Helper()
	const mark = "clowder-ray-test"
	left, err := w.core.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{LabelSelector: mark})
	require.NoError(t, err)
	for _, n := range left.Items {
		err := w.core.CoreV1().Namespaces().Delete(t.Context(), n.Name, metav1.DeleteOptions{})
		require.True(t, err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err), "%v", err)
	}
	made, err := w.core.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "e2e-", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted", mark: "e2e"},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	w.namespace = made.Name
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(t, w.core.CoreV1().Namespaces().Delete(ctx, w.namespace, metav1.DeleteOptions{}))
	})
}

// address is one of this machine at which pods reach it: the node's own where the node is this machine, else the one from
// which the node is reached.
func (w *fixture) address(t *testing.T) string {
	t.Helper()
	nodes, err := w.core.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for _, a := range nodes.Items[0].Status.Addresses {
		if a.Type != corev1.NodeInternalIP {
			continue
		}
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "udp", net.JoinHostPort(a.Address, "9"))
		require.NoError(t, err)
		defer func() { require.NoError(t, conn.Close()) }()
		host, _, err := net.SplitHostPort(conn.LocalAddr().String())
		require.NoError(t, err)
		return host
	}
	require.Fail(t, "the node has no address")
	return ""
}

// relay brings connections at an address that pods reach to the broker on loopback, and returns the broker's URI there.
func relay(t *testing.T, here, uri string) string {
	t.Helper()
	to, err := url.Parse(uri)
	require.NoError(t, err)
	front, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", here+":0")
	require.NoError(t, err)
	backend := to.Host
	var wait sync.WaitGroup
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	wait.Go(func() {
		for {
			in, err := front.Accept()
			if err != nil {
				return
			}
			wait.Go(func() { join(ctx, in, backend) })
		}
	})
	t.Cleanup(func() {
		cancel()
		_ = front.Close()
		wait.Wait()
	})
	to.Host = front.Addr().String()
	return to.String()
}

// join copies between a connection and another one to address until either ends.
func join(ctx context.Context, in net.Conn, address string) {
	out, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		_ = in.Close()
		return
	}
	stop := context.AfterFunc(ctx, func() { _, _ = in.Close(), out.Close() })
	defer stop()
	var wait sync.WaitGroup
	for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
		wait.Go(func() {
			_, _ = io.Copy(pair[0], pair[1])
			_, _ = pair[0].Close(), pair[1].Close()
		})
	}
	wait.Wait()
}

// install installs the chart as a person does, and waits for its pod.
func (w *fixture) install(t *testing.T, uri, cpu string) {
	t.Helper()
	values := filepath.Join(t.TempDir(), "values.yaml")
	require.NoError(t, os.WriteFile(values, fmt.Appendf(nil, `
clowderUrl: %[1]s
secret: {values: {RABBITMQ_URI: %[2]q}}
image: {tag: e2e}
settings: {RAY_POLL: 500ms, HEARTBEAT: 5s, LOG_LEVEL: debug}
shared: {storageClass: shared, size: 1Gi}
state: {storageClass: shared, size: 1Gi}
ray:
  image: %[3]s
  scratch: 4Gi
  sharedMemory: 512Mi
  head: {cpu: %[4]s, memory: 3Gi}
  script: {sharedKernel: true, openNetwork: true} # this node has no gVisor, and its network plugin enforces no policies
  profiles:
  - {name: small, workers: 2, maxWorkers: 2, cpu: %[4]s, memory: 2Gi}
  - {name: scaled, workers: 2, minWorkers: 0, cpu: %[4]s, memory: 2Gi}
  - {name: queued, queue: lab, workers: 2, cpu: %[4]s, memory: 2Gi}
  - {name: urgent, queue: lab, priorityClass: %[5]s-urgent, workers: 2, cpu: %[4]s, memory: 2Gi}
  - {name: standing, cluster: standing, minWorkers: 0, maxWorkers: 3}
`, w.clowder.URL, uri, rayImage(), cpu, w.namespace), 0o600))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the namespace:\n%s\nthe service's log:\n%s", w.state(), w.log())
		}
		out, err := exec.CommandContext(context.Background(), "helm", "uninstall", release, "--namespace", w.namespace, "--wait").CombinedOutput()
		require.NoError(t, err, string(out))
	})
	helm(t, "install", release, filepath.Join(stack.Root(), "deploy", "helm", "clowder-ray"),
		"--namespace", w.namespace, "--values", values, "--wait", "--timeout", testTimeout.String())
	require.Eventually(t, func() bool {
		l, err := w.session.Listeners(t.Context())
		return err == nil && len(l) == stack.Extractors
	}, testTimeout, 100*time.Millisecond, "Clowder has heard no heartbeat")
	w.findShared(t)
}

// rayImage is the image of make cluster-up.
func rayImage() string {
	if name := os.Getenv("RAY_IMAGE"); name != "" {
		return name
	}
	return "clowder-ray/ray:dev"
}

func helm(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "helm", args...).CombinedOutput()
	require.NoError(t, err, string(out))
}

// findShared finds the folder behind the claim of the chart; the node keeps its volumes on this machine's disk.
func (w *fixture) findShared(t *testing.T) {
	t.Helper()
	claims, err := w.core.CoreV1().PersistentVolumeClaims(w.namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	for _, claim := range claims.Items {
		if claim.Spec.AccessModes[0] != corev1.ReadWriteMany {
			continue
		}
		volume, err := w.core.CoreV1().PersistentVolumes().Get(t.Context(), claim.Spec.VolumeName, metav1.GetOptions{})
		require.NoError(t, err)
		require.NotNil(t, volume.Spec.Local, "the shared volume is not on this machine")
		w.claim, w.shared = claim.Name, volume.Spec.Local.Path
		return
	}
	require.Fail(t, "the chart has made no shared claim")
}

// state is what holds up the chart: the claims, the conditions of its pods, and the events of the namespace.
func (w *fixture) state() string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "kubectl", "--namespace", w.namespace, "get", "pvc,pods,events",
		"--output", "wide", "--sort-by", ".metadata.creationTimestamp").CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%s%v", out, err)
	}
	return string(out)
}

// log is what the service has printed.
func (w *fixture) log() string {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	raw, err := w.core.CoreV1().Pods(w.namespace).GetLogs(release+"-0", &corev1.PodLogOptions{}).Do(ctx).Raw()
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// files uploads a dataset of these files to Clowder.
func (w *fixture) files(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	id := w.clowder.AddDataset(user, name)
	for name, content := range files {
		_, err := w.clowder.AddFile(id, name, strings.NewReader(content))
		require.NoError(t, err)
	}
	return id
}

// dataset uploads the sample of reviews to Clowder.
func (w *fixture) dataset(t *testing.T) string {
	t.Helper()
	id := w.clowder.AddDataset(user, "Reviews")
	for _, name := range []string{"train.csv", "test.csv"} {
		body, err := os.ReadFile(filepath.Join(stack.Root(), "test", "dataset", "reviews", name))
		require.NoError(t, err)
		_, err = w.clowder.AddFile(id, name, strings.NewReader(string(body)))
		require.NoError(t, err)
	}
	return id
}
