// Package pipeline owns the life of a job: the order of its stages, the loop that works on all jobs at once, retries, deadlines,
// cancellation, and the statuses that its user reads.
//
// Every stage may run again after a kill at any point: it looks for an external effect before it repeats it, and the record advances
// only after the effect is certain. So recovery is reading the records again.
//
// The package handles no AMQP frames, no HTTP and no Kubernetes types. The packages that do are passed in as interfaces: the platform
// (Clowder or folders), the Ray backend, the message broker. Its subpackages each do one thing: schedule (which run is due), admission
// (who may go on), status (send statuses), listing (describe runs and models), progress (read event logs), objects (copy from and to object
// stores) and volume (the layout of the shared volume).
package pipeline
