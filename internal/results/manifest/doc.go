// Package manifest writes and reads manifest.json: everything that is needed to say what went into a run and to make it again.
// It also owns Meta, which is what the service knows about a run and the trainer does not.
package manifest
