// Package clowderray carries the files that belong into the program itself.
package clowderray

import _ "embed"

// ExtractorInfo is extractor_info.json: what Clowder is told of this extractor, and the form that its users fill in.
//
//go:embed extractor_info.json
var ExtractorInfo []byte
