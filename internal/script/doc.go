// Package script decides what a script of a user may do: which sandbox holds it, its limits, and what of the form an administrator offers.
// It finds the requirements file of a dataset; package requirements installs the packages.
package script
