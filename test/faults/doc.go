// Package faults breaks the service on purpose, as a process of its own beside a real RabbitMQ, and lets a checker judge what
// is left.
//
// A History holds what independent witnesses saw: who submitted, what Clowder and Ray hold, and what the service says of
// itself. Check finds in it whatever was lost, doubled, invented, torn, taken back, contradicted or leaked. Matrix names the
// test of every fault that the service is built for, also where it lies in another package. The soak strikes hundreds of jobs
// with faults in a random order that its seed repeats.
//
// It is no part of the product and is linked into none of its programs.
package faults
