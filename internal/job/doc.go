// Package job owns the record of a job: what was asked, how far it is, and what has already taken effect outside.
//
// It promises three things. Accept is idempotent by key: the same Clowder job delivered twice is one record. A state
// never goes backwards, whichever process writes. After a nil return the change is on disk, so a caller may tell the outside.
//
// It knows nothing of RabbitMQ, Clowder, Ray or the shared volume; the packages that do know them share its plain types.
package job
