// Package raylocal starts and stops a Ray of one's own on this machine, for trainings without a cluster and for tests.
//
// It owns one Ray per folder: its processes, ports, token and files. Everything listens on loopback only and wants the
// token. An attached Ray ends with the program that started it, whatever ends that; a detached one outlives it and is
// found again through a file in its folder that only its owner can read. Stop ends exactly the processes of this Ray:
// they are known by a random mark in their environment, which every descendant inherits, and not by a name or by a
// process id that may have been given to somebody else since.
//
// It knows nothing of jobs.
package raylocal
