// Package explain turns the state of a Kubernetes cluster into one sentence for a scientist: why an attempt waits, what
// went wrong with it, and what helps.
//
// It is pure: a Snapshot goes in, a line of at most rayjob.MaxReason printable characters comes out. It makes no request,
// reads no clock and keeps no state. It owns the tables of the reasons that Kubernetes, KubeRay, Kueue and the container
// runtimes report. A reason that is in no table is shown as it is, and never decides anything.
package explain
