// Package explain turns the state of a Kubernetes cluster into one sentence for a scientist: why an attempt waits, what
// went wrong with it, and what helps.
//
// It is pure: a Snapshot goes in, a line of at most rayjob.MaxReason printable characters comes out. It makes no request,
// reads no clock and keeps no state. It knows the causes that users meet most: images, shortages, quotas, the shared
// volume, crashes and memory, Kueue and the autoscaler. What Kubernetes reports otherwise is shown in its own words, and
// never decides anything.
package explain
