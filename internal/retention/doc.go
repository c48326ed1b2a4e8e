// Package retention owns how long things are kept that nobody needs any more: the keys of users, the folders of runs, the
// records of jobs, downloaded bodies, and what processes left half written when they died. It also watches the room on the
// disks, so that people hear of a full one before jobs fail.
//
// It removes only what a record says is over. Everything may be interrupted at any instant and done again. What it does not
// know stays: folders of runs of other services, and the versions of models.
//
// It knows nothing of RabbitMQ, Clowder and Ray.
package retention
