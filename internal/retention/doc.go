// Package retention deletes what is no longer needed: keys of users, folders of runs, records of jobs, downloaded files, and what
// killed processes left unfinished. It also watches the free space on the disks and pauses new jobs before a full disk makes jobs fail.
//
// It deletes only what a record says is over. Every step can be interrupted at any point and repeated. What it does not know stays:
// folders of runs of other services, and the versions of models.
//
// It knows nothing of RabbitMQ, Clowder and Ray.
package retention
