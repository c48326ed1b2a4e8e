//go:build kuberay

package kuberay

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"sigs.k8s.io/yaml"

	"github.com/ncsa/clowder-ray/test/stack"
)

// token is what the clients of the served model send.
const token = "a-token-of-the-test"

// serve brings up the manifest of the champion that a training has made, in the namespace of the level restricted, and compares its answers
// with those of the training.
func (w *fixture) serve(t *testing.T, trained done) {
	t.Helper()
	began := time.Now()
	manifest := w.exec(t, "/extractor", "models", "manifest", trained.dataset, "reviews@champion", "--as", "deployment", "--image", rayImage(), "--claim", w.claim)
	name := w.apply(t, manifest)
	pod := w.answering(t, name)
	t.Logf("%s is ready %s after its manifest was written", name, time.Since(began).Round(100*time.Millisecond))

	address := w.forward(t, pod, 8080)
	rows := answers(t, filepath.Join(w.shared, "runs", trained.run, "out", "predictions.csv"))
	status, _ := ask(t, address, "wrong", "v2/models/reviews", nil)
	require.Equal(t, http.StatusUnauthorized, status)
	texts := make([]string, 0, len(rows))
	for _, row := range rows {
		texts = append(texts, row.text)
	}
	status, doc := ask(t, address, token, "v2/models/reviews/infer", map[string]any{
		"inputs": []any{map[string]any{"name": "text", "datatype": "BYTES", "shape": []int{len(texts)}, "data": texts}},
	})
	require.Equal(t, http.StatusOK, status, string(doc))
	var found struct {
		Outputs []struct {
			Name string
			Data []any
		}
	}
	require.NoError(t, json.Unmarshal(doc, &found))
	require.Equal(t, "label", found.Outputs[0].Name)
	for i, row := range rows {
		require.Equal(t, row.predicted, found.Outputs[0].Data[i], row.text)
		of := found.Outputs[1].Data
		classes := len(of) / len(rows)
		likeliest := slices.MaxFunc(of[i*classes:(i+1)*classes], func(a, b any) int { return int(1e9 * (a.(float64) - b.(float64))) })
		require.InDelta(t, row.confidence, likeliest, 1e-3, row.text)
	}
	t.Logf("%d answers are those of predictions.csv", len(rows))
}

// apply creates what a manifest describes, and the secret that it asks for, until the test ends. It returns the name of all.
func (w *fixture) apply(t *testing.T, manifest string) (name string) {
	t.Helper()
	client, err := dynamic.NewForConfig(w.conf)
	require.NoError(t, err)
	resources := map[string]string{"Deployment": "deployments", "Service": "services", "HorizontalPodAutoscaler": "horizontalpodautoscalers"}
	for part := range strings.SplitSeq(manifest, "\n---\n") {
		var object unstructured.Unstructured
		require.NoError(t, yaml.Unmarshal([]byte(part), &object.Object), manifest)
		group, err := schema.ParseGroupVersion(object.GetAPIVersion())
		require.NoError(t, err)
		if name == "" {
			name = object.GetName()
			_, err := w.core.CoreV1().Secrets(w.namespace).Create(t.Context(), &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Name: name}, StringData: map[string]string{"token": token},
			}, metav1.CreateOptions{})
			require.NoError(t, err)
		}
		of := client.Resource(group.WithResource(resources[object.GetKind()])).Namespace(w.namespace)
		_, err = of.Create(t.Context(), &object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
		require.NoError(t, err, object.GetKind())
		t.Cleanup(func() {
			background := metav1.DeletePropagationBackground
			require.NoError(t, of.Delete(context.Background(), object.GetName(), metav1.DeleteOptions{PropagationPolicy: &background}))
		})
	}
	return name
}

// answering waits until the deployment answers, and returns its pod.
func (w *fixture) answering(t *testing.T, name string) string {
	t.Helper()
	pods := w.core.CoreV1().Pods(w.namespace)
	list := metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=clowder-ray-model,app.kubernetes.io/instance=" + name}
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		found, err := pods.List(context.Background(), list)
		require.NoError(t, err)
		for _, pod := range found.Items {
			said, _ := pods.GetLogs(pod.Name, &corev1.PodLogOptions{}).Do(context.Background()).Raw()
			t.Logf("%s: %+v\n%s", pod.Name, pod.Status, said)
		}
	})
	require.Eventually(t, func() bool {
		d, err := w.core.AppsV1().Deployments(w.namespace).Get(t.Context(), name, metav1.GetOptions{})
		return err == nil && d.Status.ReadyReplicas == 1
	}, testTimeout, 100*time.Millisecond)
	found, err := pods.List(t.Context(), list)
	require.NoError(t, err)
	require.Len(t, found.Items, 1)
	return found.Items[0].Name
}

// forward brings a port of a pod to this machine until the test ends, and returns its address.
func (w *fixture) forward(t *testing.T, pod string, port int) string {
	t.Helper()
	transport, upgrader, err := spdy.RoundTripperFor(w.conf)
	require.NoError(t, err)
	to := w.core.CoreV1().RESTClient().Post().Namespace(w.namespace).Resource("pods").Name(pod).SubResource("portforward").URL()
	stop, ready := make(chan struct{}), make(chan struct{})
	forwarder, err := portforward.New(spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, to), []string{fmt.Sprintf("0:%d", port)}, stop, ready, io.Discard, io.Discard)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- forwarder.ForwardPorts() }()
	t.Cleanup(func() {
		close(stop)
		require.NoError(t, <-ended)
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- nil
		require.NoError(t, err)
	}
	ports, err := forwarder.GetPorts()
	require.NoError(t, err)
	return fmt.Sprintf("http://127.0.0.1:%d/", ports[0].Local)
}

// ask sends a request of the Open Inference Protocol v2.
func ask(t *testing.T, address, token, path string, body any) (status int, doc []byte) {
	t.Helper()
	method, content := http.MethodGet, []byte(nil)
	if body != nil {
		var err error
		method = http.MethodPost
		content, err = json.Marshal(body)
		require.NoError(t, err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, address+path, bytes.NewReader(content))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Close = true
	answer, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, answer.Body.Close()) }()
	doc, err = io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, doc
}

// predicted is a test row with what the training answered.
type predicted struct {
	text, predicted string
	confidence      float64
}

// most is how many rows are compared; the protocol takes 64 in one request.
const most = 40

// answers reads predictions.csv, with the texts of the test rows.
func answers(t *testing.T, file string) []predicted {
	t.Helper()
	table := func(file string) [][]string {
		doc, err := os.ReadFile(file)
		require.NoError(t, err)
		rows, err := csv.NewReader(bytes.NewReader(doc)).ReadAll()
		require.NoError(t, err)
		return rows
	}
	texts, rows := table(filepath.Join(stack.Root(), "test", "dataset", "reviews", "test.csv")), table(file)
	at := func(head []string, name string) int {
		place := slices.Index(head, name)
		require.GreaterOrEqual(t, place, 0, "%s in %v", name, head)
		return place
	}
	var found []predicted
	for _, row := range rows[1:min(len(rows), most+1)] {
		line, err := strconv.Atoi(row[at(rows[0], "row")])
		require.NoError(t, err)
		confidence, err := strconv.ParseFloat(row[at(rows[0], "confidence")], 64)
		require.NoError(t, err)
		found = append(found, predicted{texts[line-1][at(texts[0], "review")], row[at(rows[0], "predicted")], confidence})
	}
	require.NotEmpty(t, found)
	return found
}
