// Package jsonscan reads JSON of strangers: it checks, measures and walks a document in place, and decodes answers within limits.
//
// A decoded document can take a hundred times the memory of its text, so the size and the number of values are checked first.
package jsonscan
