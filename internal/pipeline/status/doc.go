// Package status sends statuses to users: in order, no faster than Clowder can store them, and the first and the terminal status
// of each job exactly once where that can be known.
package status
