package results

// What the tests outside of the package look at.
var CheckSafetensors = checkSafetensors

const MaxAnswers = maxAnswers
const MaxList = maxList
const MaxShown = maxShown
const MaxName = maxName
const MaxCount = maxCount
const MaxImage = maxImage
const EarliestYear = earliestYear

var ErrEvent = errEvent

const MaxEventText = maxEventText
const MaxEventMetrics = maxEventMetrics
const MaxEventsOfAKind = maxEventsOfAKind
const MaxLog = maxLog
const MaxLine = maxLine
const MaxRead = maxRead
