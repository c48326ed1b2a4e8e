// Package pipeline owns the life of a job: the order of its stages, the loop that works on all jobs at once, retries,
// deadlines, cancellation, and the words in which a user hears of it.
//
// Every stage may be run again after a kill at any instant: it looks before it repeats an outside effect, and the record
// moves on only after the effect is certain. So the loop needs no other recovery than to read the records again.
//
// It knows no AMQP frames, no HTTP and no Kubernetes types; the neighbours that do are handed in.
package pipeline
