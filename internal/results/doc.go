// Package results is the contract with the trainer: the files that it leaves in a run folder, read and checked. These are the
// result (result.json), the failure (error.json), the events (events.jsonl), the logs and the files that the result names.
//
// A result that Read returns is complete and verified: every file that it names is there, with the size and the sha256 that it
// names. Everything else is an error, never an empty success.
//
// The run folder is not trusted, because a program that ran elsewhere on data of other people wrote it. Every size is bounded,
// every path stays below the run folder, and every text is made plain before it is shown. docs/security.md says why.
package results
