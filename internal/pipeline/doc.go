// Package pipeline is the life of a job on one screen (stages.go): its stages in their order. The rest of it wires the packages that own the
// stages (wire.go) and is what the service calls (pipeline.go).
//
// Each package below it has one idea. Those about a part of the life: intake (messages become records), staging (accepted to staged), attempt
// (staged to finished), deliver (finished to uploaded), request (requests about runs and models), and life (the loop that calls them, commands
// and the end of a job). None of them knows another. What they share: stage (what a stage is), slots (who may go on), status (what users are
// told), handover (what users are given), model (models of jobs), page (the page of a job), clock, metrics, schedule, admission, volume,
// progress, objects and listing.
//
// Every stage may run again after a kill at any point: it looks for an external effect before it repeats it, and the record advances
// only after the effect is certain. So recovery is reading the records again.
//
// Nothing here handles AMQP frames, HTTP or Kubernetes types. The packages that do are passed in as interfaces: the platform (Clowder or
// folders), the Ray backend, the message broker.
package pipeline
