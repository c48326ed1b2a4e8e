// Package attempt takes a job from staged to finished on Ray: it says what an attempt is to do, submits it under its name, watches it, decides
// what follows when it fails, and releases it.
//
// An attempt is submitted and released any number of times with one effect. A kill between a submission and its record leaves an attempt
// under the name that the next start looks for; what no record needs is found and released. No attempt is stopped
// before the decision that ends it is on disk. What an attempt left on the volume is not trusted. The package knows backends of Ray by their
// interface, and nothing of queues, deliveries and requests.
package attempt
