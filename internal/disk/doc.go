// Package disk tells how much room a disk has. Any package may use it; it uses none.
package disk
