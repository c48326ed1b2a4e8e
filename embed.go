// Package clowderray carries the files that belong into the program itself.
package clowderray

import _ "embed"

// ExtractorInfo and PredictInfo are what Clowder is told of the two extractors of the service, training and batch prediction,
// with the forms that their users fill in.
var (
	//go:embed extractor_info.json
	ExtractorInfo []byte
	//go:embed extractor_info.predict.json
	PredictInfo []byte
)
