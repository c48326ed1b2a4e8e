// Package jobsapi runs trainings on any Ray cluster whose dashboard can be reached, through the Ray Jobs REST API.
//
// It owns the wire types of that API and the meaning of its answers. The submission id is the idempotency key: an attempt
// starts once however often it is submitted, and a job that exists under its name is adopted after a check of its owner.
// One listing per interval observes all attempts. Ray's answers are foreign text: they are decoded with limits and cut, and
// may come from any version of Ray.
//
// When Ray cannot be reached, nothing is known, so the result is an error and no verdict. A rejected token is an error in the
// settings of the service; jobs wait until the administrator corrects it.
package jobsapi
