// Package life owns the loop that takes jobs through their stages: which job is due, which of its stages, what the outcome of a stage does
// to the record, and how commands of people and the end of a job are served.
//
// The loop keeps in memory when each job is due and nothing else that it needs: it reads the record before a job advances. So recovery after
// a kill is reading the records again. A stage that fails for a passing reason is tried again, one that panics fails its own job only, and a
// stop of the service is never a failure. Each write succeeds only on the version of the record that was read.
//
// What the stages do is passed in. The package knows no broker, no files and no registry, and of Ray only what two of its errors mean.
package life
