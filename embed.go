// Package clowderray carries the files that belong into the program itself.
package clowderray

import _ "embed"

// What Clowder is told of the extractors of the service, with the forms that their users fill in: training with a short form
// and with every option, batch prediction, scripts of users, and managing all of these.
var (
	//go:embed extractor_info.json
	ExtractorInfo []byte
	//go:embed extractor_info.advanced.json
	AdvancedInfo []byte
	//go:embed extractor_info.predict.json
	PredictInfo []byte
	//go:embed extractor_info.script.json
	ScriptInfo []byte
	//go:embed extractor_info.runs.json
	RunsInfo []byte
)
