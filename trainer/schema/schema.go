// Package schema holds the JSON Schemas of the files that the trainer and the service exchange. Both sides are held to them.
package schema

import "embed"

// Files are the schemas by name: "result.schema.json".
//
//go:embed *.json
var Files embed.FS
