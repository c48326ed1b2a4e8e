// Package child carries out attempts without Ray: each is a child process of this program, with the same training program and the same
// files in its run folder. It serves one command on one machine, so it stores nothing: the processes end with this program, and a later
// program finds the checkpoints in the run folder.
package child
