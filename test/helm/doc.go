// Package helm looks at the Helm chart as a cluster does: rendered by the real Helm, decoded by Kubernetes' own types, judged
// by the rules of Pod Security, and installed on a real API server (build tag integration).
package helm
