// Package raylocal starts and stops a Ray on this machine, for trainings without a cluster and for tests.
//
// It owns one Ray per folder: its processes, ports, token and files. All ports are on loopback and require the token. An
// attached Ray ends with the program that started it, however that program ends. A detached Ray keeps running and is found
// through a file in its folder that only its owner can read. Stop ends exactly the processes of this Ray. It finds them by
// a random mark in their environment, which every descendant inherits, and not by a name or a process id.
//
// It knows nothing of jobs.
package raylocal
