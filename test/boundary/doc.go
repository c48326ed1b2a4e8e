// Package boundary plays a hostile training against the real service: it holds the run folder and does there everything that a
// program can do. docs/security.md says which boundary each attack is about.
package boundary
