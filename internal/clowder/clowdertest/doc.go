// Package clowdertest is a test double of Clowder v2: its REST interface, its two RabbitMQ listeners, and its bugs. Tests and the demo
// use it. With Options.Version 1 it is a double of Clowder v1, on the same data.
//
// It answers as the real Clowder was observed to answer, bugs included: pages of ten, downloads without a length, 500 for a malformed
// id, 422 for a missing query field, files that are listed before they are stored, statuses that are dropped silently or stored in the
// wrong order. The contract tests of package clowder and of package v1 run against the doubles and the real ones. Routes that it does not implement answer 404.
//
// Tests can add faults: errors before and after the effect, answers that hang, and bodies that are cut or too long.
package clowdertest
