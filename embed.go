// Package clowderray carries the files that belong into the program itself.
package clowderray

import _ "embed"

// ExtractorInfo, PredictInfo and RunsInfo are what Clowder is told of the extractors of the service, those for training, for
// batch prediction and for managing both, with the forms that their users fill in.
var (
	//go:embed extractor_info.json
	ExtractorInfo []byte
	//go:embed extractor_info.predict.json
	PredictInfo []byte
	//go:embed extractor_info.runs.json
	RunsInfo []byte
)
