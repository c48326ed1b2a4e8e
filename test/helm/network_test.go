//go:build integration

package helm

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// participants are the network policies of the chart, and the parts that may want to connect.
type participants struct {
	network
	service endpoint
}

func newParticipants(t *testing.T, values ...string) participants {
	t.Helper()
	objects := render(t, values...)
	s := participants{service: endpoint{namespace: namespace, labels: statefulSet(t, objects).Spec.Template.Labels}}
	for _, o := range objects {
		if p, ok := o.(*networkingv1.NetworkPolicy); ok {
			s.network = append(s.network, p)
		}
	}
	return s
}

// rayPod has the labels that KubeRay 1.6 gives to each pod of a RayCluster, and one of the run's own.
func rayPod(in, kind, run string) endpoint {
	return endpoint{namespace: in, labels: map[string]string{
		"ray.io/is-ray-node": "yes", "ray.io/node-type": kind, "ray.io/cluster": run, "clowder-ray.ncsa.illinois.edu/run": run,
	}}
}

var (
	head   = rayPod(namespace, "head", "ft-a")
	worker = rayPod(namespace, "worker", "ft-a")

	operatorLabels = map[string]string{"app.kubernetes.io/name": "kuberay", "app.kubernetes.io/component": "kuberay-operator"}
	operator       = endpoint{namespace: "kuberay", labels: operatorLabels}
	operatorBeside = endpoint{namespace: namespace, labels: operatorLabels}

	dns         = endpoint{namespace: "kube-system", labels: map[string]string{"k8s-app": "kube-dns"}}
	prometheus  = endpoint{namespace: "monitoring"}
	neighbour   = endpoint{namespace: namespace, labels: map[string]string{"app": "notebook"}}
	foreignRay  = rayPod("other", "worker", "theirs")
	internet    = endpoint{address: "203.0.113.7"}
	apiServer   = endpoint{address: "10.96.0.1"}
	metadata    = endpoint{address: "169.254.169.254"}
	objectStore = endpoint{address: "192.0.2.10"}
)

func TestTheServiceReachesWhatItNeedsAndNothingElse(t *testing.T) {
	t.Parallel()
	s := newParticipants(t, least...)
	cases := map[string]struct {
		to   endpoint
		port int32
		want bool
	}{
		"a dashboard of Ray":      {head, 8265, true},
		"Ray's control store":     {head, 6379, false},
		"Ray's agent":             {head, 52365, false},
		"a foreign Ray":           {foreignRay, 8265, false},
		"the broker":              {internet, 5672, true},
		"the broker by TLS":       {internet, 5671, true},
		"Clowder":                 {internet, 443, true},
		"the API server":          {apiServer, 6443, true},
		"name servers":            {dns, 53, true},
		"a mail server":           {internet, 25, false},
		"the cloud's metadata":    {metadata, 80, false},
		"a neighbour":             {neighbour, 8888, false},
		"a name server elsewhere": {internet, 53, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, s.allows(s.service, tc.to, corev1.ProtocolTCP, tc.port))
		})
	}
}

func TestTheServiceIsReachedForMetricsOnly(t *testing.T) {
	t.Parallel()
	s := newParticipants(t, least...)
	require.True(t, s.allows(prometheus, s.service, corev1.ProtocolTCP, 8780))
	require.False(t, s.allows(prometheus, s.service, corev1.ProtocolTCP, 8080))
	require.False(t, s.allows(internet, s.service, corev1.ProtocolTCP, 8780))
	require.False(t, s.allows(worker, s.service, corev1.ProtocolTCP, 8780), "training code has no business there")

	narrow := newParticipants(t, append(least, "--set", "networkPolicy.metrics.from[0].namespaceSelector.matchLabels.kubernetes\\.io/metadata\\.name=monitoring")...)
	require.True(t, narrow.allows(prometheus, narrow.service, corev1.ProtocolTCP, 8780))
	require.False(t, narrow.allows(operator, narrow.service, corev1.ProtocolTCP, 8780))
}

func TestTheStudioIsReachedWhereItIsOn(t *testing.T) {
	t.Parallel()
	ingress := endpoint{namespace: "ingress", labels: map[string]string{"app": "controller"}}
	off := newParticipants(t, least...)
	require.False(t, off.allows(ingress, off.service, corev1.ProtocolTCP, 8781))
	on := newParticipants(t, "--values", "testdata/everything.yaml")
	require.True(t, on.allows(ingress, on.service, corev1.ProtocolTCP, 8781))
	require.False(t, on.allows(worker, on.service, corev1.ProtocolTCP, 8781), "training code has no business there")
	require.False(t, on.allows(internet, on.service, corev1.ProtocolTCP, 8781), "people come through the ingress controller")
	require.True(t, on.allows(on.service, internet, corev1.ProtocolTCP, 8443), "Keycloak")
	require.False(t, off.allows(off.service, internet, corev1.ProtocolTCP, 8443))
	narrow := newParticipants(t, "--values", "testdata/everything.yaml", "--set", "networkPolicy.studio.from[0].namespaceSelector.matchLabels.kubernetes\\.io/metadata\\.name=ingress")
	require.True(t, narrow.allows(ingress, narrow.service, corev1.ProtocolTCP, 8781))
	require.False(t, narrow.allows(prometheus, narrow.service, corev1.ProtocolTCP, 8781))
}

func TestRayIsReachedByItsOwnTheOperatorAndTheService(t *testing.T) {
	t.Parallel()
	s := newParticipants(t, least...)
	cases := map[string]struct {
		from endpoint
		port int32
		want bool
	}{
		"its workers":              {worker, 6379, true},
		"its workers, other ports": {worker, 10002, true},
		"the service":              {s.service, 8265, true},
		"the operator":             {operator, 8265, true},
		"the operator beside us":   {operatorBeside, 8265, true},
		"the operator, elsewhere":  {operator, 6379, false},
		"a foreign Ray":            {foreignRay, 8265, false},
		"a neighbour":              {neighbour, 8265, false},
		"Prometheus":               {prometheus, 8080, false},
		"the internet":             {internet, 8265, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, s.allows(tc.from, head, corev1.ProtocolTCP, tc.port))
		})
	}
}

func TestTrainingCodeReachesNothing(t *testing.T) {
	t.Parallel()
	s := newParticipants(t, least...)
	require.True(t, s.allows(worker, dns, corev1.ProtocolUDP, 53))
	require.True(t, s.allows(worker, dns, corev1.ProtocolTCP, 53))
	for name, tc := range map[string]struct {
		to   endpoint
		port int32
	}{
		"the internet":         {internet, 443},
		"the cloud's metadata": {metadata, 80},
		"the API server":       {apiServer, 443},
		"the broker":           {internet, 5672},
		"the service":          {s.service, 8780},
		"a neighbour":          {neighbour, 8888},
		"a tunnel by DNS":      {internet, 53},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.False(t, s.allows(head, tc.to, corev1.ProtocolTCP, tc.port))
			require.False(t, s.allows(worker, tc.to, corev1.ProtocolTCP, tc.port))
		})
	}
}

// scriptPod has the labels of a pod that runs a script of a user; several ones find each other by name.
func scriptPod(kind, run string, several bool) endpoint {
	pod := rayPod(namespace, kind, run)
	pod.labels["clowder-ray.ncsa.illinois.edu/kind"] = "script"
	if several {
		pod.labels["clowder-ray.ncsa.illinois.edu/nodes"] = "several"
	}
	return pod
}

// No setting for trainings opens the network to a script: neither more egress, nor the autoscaler's way to the API server.
func TestScriptsReachNothing(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]string{
		"by default":         least,
		"with an autoscaler": append(least, "--set", "ray.profiles[0].name=cpu,ray.profiles[0].minWorkers=0"),
		"with more egress":   {"--values", "testdata/everything.yaml"},
		"without deny-all":   append(least, "--set", "networkPolicy.denyAll=false"),
		"several machines":   append(least, "--set", "ray.script.maxNodes=4"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newParticipants(t, values...)
			script := scriptPod("head", "ft-s", false)
			for _, to := range []endpoint{internet, metadata, apiServer, objectStore, dns, s.service, neighbour, head, worker, foreignRay, scriptPod("head", "ft-t", false)} {
				for _, port := range []int32{53, 443, 6379, 8265, 8780, 9000, 10002} {
					require.False(t, s.allows(script, to, corev1.ProtocolTCP, port), "%v:%d", to, port)
				}
				require.False(t, s.allows(script, to, corev1.ProtocolUDP, 53), "%v", to)
			}
			for _, from := range []endpoint{head, worker, neighbour, internet, scriptPod("worker", "ft-t", true)} {
				require.False(t, s.allows(from, script, corev1.ProtocolTCP, 8265), "%v", from)
			}
			require.True(t, s.allows(s.service, script, corev1.ProtocolTCP, 8265))
			require.False(t, s.allows(s.service, script, corev1.ProtocolTCP, 6379))
		})
	}
}

func TestScriptsOnSeveralMachinesReachNameServersToo(t *testing.T) {
	t.Parallel()
	script := scriptPod("worker", "ft-s", true)
	s := newParticipants(t, append(least, "--set", "ray.script.maxNodes=2")...)
	require.True(t, s.allows(script, dns, corev1.ProtocolUDP, 53))
	require.False(t, s.allows(script, internet, corev1.ProtocolUDP, 53))
	require.False(t, s.allows(script, scriptPod("head", "ft-s", true), corev1.ProtocolTCP, 6379), "the service creates a policy for each run")
	closed := newParticipants(t, least...)
	require.False(t, closed.allows(script, dns, corev1.ProtocolUDP, 53))
}

func TestTheRestOfTheNamespaceIsClosed(t *testing.T) {
	t.Parallel()
	s := newParticipants(t, least...)
	require.False(t, s.allows(neighbour, internet, corev1.ProtocolTCP, 443))
	require.False(t, s.allows(prometheus, neighbour, corev1.ProtocolTCP, 80))
	require.True(t, s.allows(operatorBeside, apiServer, corev1.ProtocolTCP, 443), "an operator in the namespace goes on")

	open := newParticipants(t, append(least, "--set", "networkPolicy.denyAll=false")...)
	require.True(t, open.allows(neighbour, internet, corev1.ProtocolTCP, 443))
	require.False(t, open.allows(worker, internet, corev1.ProtocolTCP, 443), "Ray stays closed")
	require.Empty(t, newParticipants(t, append(least, "--set", "networkPolicy.enabled=false")...).network)
}

func TestNeighboursCanBeNamed(t *testing.T) {
	t.Parallel()
	s := newParticipants(t, "--values", "testdata/everything.yaml")
	clowder := endpoint{namespace: "clowder"}
	require.True(t, s.allows(s.service, clowder, corev1.ProtocolTCP, 9000))
	require.False(t, s.allows(s.service, internet, corev1.ProtocolTCP, 9000), "only where Clowder is")
	require.True(t, s.allows(worker, objectStore, corev1.ProtocolTCP, 9000))
	require.False(t, s.allows(worker, internet, corev1.ProtocolTCP, 9000))
}

func TestClowdersPortComesFromItsAddress(t *testing.T) {
	t.Parallel()
	for address, port := range map[string]int32{
		"https://clowder.example.org": 443, "http://clowder.example.org": 80, "http://clowder:8000": 8000,
		"https://clowder.example.org:8443/base": 8443, "http://[2001:db8::1]:9000": 9000, "http://[2001:db8::1]": 80,
	} {
		s := newParticipants(t, append(least, "--set", "clowderUrl="+address)...)
		require.True(t, s.allows(s.service, internet, corev1.ProtocolTCP, port), address)
		require.Equal(t, port == 80, s.allows(s.service, internet, corev1.ProtocolTCP, 80), address)
	}
}

// TestOnlyTheAutoscalerReachesTheAPIServer: it runs beside the head of those profiles that ask for it.
func TestOnlyTheAutoscalerReachesTheAPIServer(t *testing.T) {
	t.Parallel()
	s := newParticipants(t, append(least, "--set", "ray.profiles[0].name=cpu,ray.profiles[0].minWorkers=0")...)
	require.True(t, s.allows(head, apiServer, corev1.ProtocolTCP, 443))
	require.False(t, s.allows(worker, apiServer, corev1.ProtocolTCP, 443))
	require.False(t, s.allows(head, internet, corev1.ProtocolTCP, 80))
}

// TestPoliciesSelectPodsByLabelsThatTheyHave guards the tables above: a selector that matches nothing allows everything.
func TestPoliciesSelectPodsByLabelsThatTheyHave(t *testing.T) {
	t.Parallel()
	objects := render(t, least...)
	set := statefulSet(t, objects)
	for name, pod := range map[string]endpoint{
		fullName:               {namespace: namespace, labels: set.Spec.Template.Labels},
		fullName + "-ray":      worker,
		fullName + "-script":   scriptPod("head", "ft-s", false),
		fullName + "-deny-all": neighbour,
	} {
		p := find[*networkingv1.NetworkPolicy](t, objects, name)
		require.True(t, matches(&p.Spec.PodSelector, pod.labels), name)
		require.Equal(t, []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}, p.Spec.PolicyTypes, name)
	}
	service := find[*corev1.Service](t, objects, fullName)
	require.Subset(t, set.Spec.Template.Labels, maps.Clone(service.Spec.Selector))
}
