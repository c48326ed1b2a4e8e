package chart

// The colours of all pictures: told apart by colour-blind eyes, and dark enough on white.
const (
	colourTrain      = "#0b69a3"
	colourSteps      = "#a9cfe4"
	colourValidation = "#c4570a"
	colourBest       = "#486581"
	colourText       = "#334e68"
	colourTitle      = "#102a43"
	colourResume     = "#8a6fb0"
	colourOther      = "#bcccdc"
	colourBar        = "#3f8dba"
	colourAxis       = "#9fb3c8"
	colourGrid       = "#e3eaf1"
)

// groupColours are the colours of groups of dots, the same as in the style rules of the report.
var groupColours = []string{"#0b69a3", "#d1600a", "#168a58", "#a8488c", "#b58900", "#3fa0d6", "#6a4fb3", "#4f5b66", "#c2185b"}

// shades are the colours of a confusion matrix from no row to all of them, as the report has them.
var shades = [11]string{
	"#f4f7fa", "#e3eff7", "#d2e6f2", "#bfdcec", "#a9cfe4", "#8dbfda", "#6aaacd", "#3f8dba", "#2379ac", "#0f6399", "#0a5382",
}

// darkShade is the first shade that needs white letters.
const darkShade = 7

// pen is how a line looks outside of a page with style rules. The width and the dashes are in units of the SVG.
type pen struct {
	colour string
	width  float64
	dashes []float64
}

var pens = map[style]pen{
	styleSteps:      {colourSteps, 1.5, nil},
	styleTrain:      {colourTrain, 2.4, nil},
	styleValidation: {colourValidation, 2.4, nil},
	styleChance:     {colourBest, 1.4, []float64{4, 4}},
	styleBest:       {colourBest, 1.4, []float64{4, 4}},
	styleResume:     {colourResume, 1.4, []float64{2, 3}},
	styleThird:      {groupColours[2], 2.4, nil},
	styleFourth:     {groupColours[3], 2.4, nil},
	styleFifth:      {groupColours[4], 2.4, nil},
	styleSixth:      {groupColours[6], 2.4, nil},
}
