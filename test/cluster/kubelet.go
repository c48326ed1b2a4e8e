package cluster

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// NodeName is the node that PlayKubelet puts pods on. There is no object of that name.
const NodeName = "played"

// addresses counts the addresses given to pods.
var addresses atomic.Uint32

// PlayKubelet plays scheduler and kubelet of a namespace until ctx ends: every pod gets a place and an address, its
// containers run and are ready at once, and a pod that is deleted goes at once. It returns when it has begun.
// A test that wants pods to fail or to wait ends it, or never calls it, and writes their status itself.
func (p *Plane) PlayKubelet(ctx context.Context, namespace string) error {
	// An update that fails because of another write is repeated when the informer shows the pod again.
	factory := informers.NewSharedInformerFactoryWithOptions(p.admin, time.Second, informers.WithNamespace(namespace))
	pods := factory.Core().V1().Pods().Informer()
	_, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { p.play(ctx, obj.(*corev1.Pod)) },
		UpdateFunc: func(_, obj any) { p.play(ctx, obj.(*corev1.Pod)) },
	})
	if err != nil {
		return fmt.Errorf("watch pods: %w", err)
	}
	factory.Start(ctx.Done())
	p.kubelets.Go(func() {
		<-ctx.Done()
		factory.Shutdown()
	})
	if !cache.WaitForCacheSync(ctx.Done(), pods.HasSynced) {
		return fmt.Errorf("list pods: %w", ctx.Err())
	}
	return nil
}

// play takes a pod one step on.
func (p *Plane) play(ctx context.Context, pod *corev1.Pod) {
	api := p.admin.CoreV1().Pods(pod.Namespace)
	switch {
	case pod.DeletionTimestamp != nil:
		_ = api.Delete(ctx, pod.Name, *metav1.NewDeleteOptions(0))
	case pod.Spec.NodeName == "":
		_ = api.Bind(ctx, &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID},
			Target:     corev1.ObjectReference{Kind: "Node", Name: NodeName},
		}, metav1.CreateOptions{})
	case pod.Status.Phase == corev1.PodPending:
		running := pod.DeepCopy()
		running.Status = runningStatus(pod)
		_, _ = api.UpdateStatus(ctx, running, metav1.UpdateOptions{})
	}
}

// runningStatus is what a kubelet writes when every container of a pod runs and is ready.
func runningStatus(pod *corev1.Pod) corev1.PodStatus {
	now := metav1.Now()
	n := addresses.Add(1)
	ip := fmt.Sprintf("10.88.%d.%d", n>>8&0xff, n&0xff)
	status := corev1.PodStatus{
		Phase: corev1.PodRunning, StartTime: &now, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}}, HostIP: "10.89.0.1",
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		status.Conditions = append(status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	for _, c := range pod.Spec.InitContainers {
		status.InitContainerStatuses = append(status.InitContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: true,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}},
		})
	}
	started := true
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: true, Started: &started,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
	return status
}
