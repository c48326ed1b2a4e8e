package results

// The limits that the tests go to.
const (
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
	ErrEvent = errEvent
)
