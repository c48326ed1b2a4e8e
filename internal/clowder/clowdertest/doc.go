// Package clowdertest is a double of Clowder v2: its REST interface, its two RabbitMQ listeners, and its quirks. It serves
// tests and the demo.
//
// It answers as the real one was seen to answer, mistakes included: pages of ten, downloads without a length, 500 for a
// malformed id, 422 for a missing query field, files that are listed before they are stored, statuses that are dropped
// without a word or stored in the wrong order. The contract tests of package clowder run against both and keep it honest.
// What it leaves out, it answers with 404.
//
// Faults can be set from tests: errors before and after the effect, hanging, cut and oversized bodies.
package clowdertest
