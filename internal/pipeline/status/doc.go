// Package status sends statuses to users: in order, no faster than Clowder can store them, and the first and the terminal status
// of each job exactly once where that can be known.
//
// Statuses wait in memory. After a kill the first and the terminal one are sent again unless the platform shows them; the others are lost.
// The package knows nothing of stages and of Ray.
package status
