// Package graph is what a training on nodes and edges says of its data and of what it learnt: the section graph of result.json, and the
// conditions that tie its values to each other. It does not know the rest of a result.
package graph
