// Package graphs makes the parts of a report that only models of nodes and edges have, and the words about them that other parts use.
package graphs
