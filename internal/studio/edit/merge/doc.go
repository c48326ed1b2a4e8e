// Package merge compares and merges versions of a text, line by line.
package merge
