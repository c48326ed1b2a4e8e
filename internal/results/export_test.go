package results

// The limits that the tests go to.
const (
	MaxAnswers       = maxAnswers
	MaxList          = maxList
	MaxShown         = maxShown
	MaxName          = maxName
	MaxCount         = maxCount
	MaxImage         = maxImage
	EarliestYear     = earliestYear
	MaxEventText     = maxEventText
	MaxEventMetrics  = maxEventMetrics
	MaxEventsOfAKind = maxEventsOfAKind
	MaxLog           = maxLog
	MaxLine          = maxLine
	MaxRead          = maxRead
)

// What the tests outside of the package look at.
var (
	CheckSafetensors = checkSafetensors
	ErrEvent         = errEvent
)
