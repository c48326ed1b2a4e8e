// Package section holds the parts of a report that the trainer describes in general blocks, and their limits.
package section

// Section is a part of the report that the trainer describes in general blocks. The service knows no kind of data: it checks, escapes and
// draws blocks. Nothing in them is HTML.
type Section struct {
	// Place is where the section stands in the report, PlaceData or PlaceResult.
	Place  string  `json:"place" enum:"data,result"`
	Title  string  `json:"title"`
	Blocks []Block `json:"blocks"`

	// Cut are sentences about sections and blocks that were left out. Limited sets them.
	Cut []string `json:"-"`
}

// The places of sections.
const (
	// PlaceData is behind the data, and in the model card, PlaceResult behind the scores.
	PlaceData   = "data"
	PlaceResult = "result"
)

// Block is one part of a section. Type says which of the fields that follow Text it has.
type Block struct {
	Type  BlockType `json:"type" enum:"text,facts,table,chart,matrix,pictures,examples"`
	Title string    `json:"title,omitempty"`
	// Folded says that the block is closed at first.
	Folded bool `json:"folded,omitempty"`
	// Text is paragraphs above the content, and Note is one below it.
	Text []string `json:"text,omitempty"`
	Note string   `json:"note,omitempty"`

	Facts    []Fact    `json:"facts,omitempty"`
	Columns  []Column  `json:"columns,omitempty"`
	Rows     [][]Cell  `json:"rows,omitempty"`
	Chart    *Chart    `json:"chart,omitempty"`
	Matrix   *Matrix   `json:"matrix,omitempty"`
	Pictures []Picture `json:"pictures,omitempty"`
	Examples []Marked  `json:"examples,omitempty"`

	// Cut are sentences about what was left out of a block that is larger than its limits.
	Cut []string `json:"-"`
}

// BlockType is a type of block.
type BlockType string

// The types of blocks.
const (
	BlockText     BlockType = "text"
	BlockFacts    BlockType = "facts"
	BlockTable    BlockType = "table"
	BlockChart    BlockType = "chart"
	BlockMatrix   BlockType = "matrix"
	BlockPictures BlockType = "pictures"
	BlockExamples BlockType = "examples"
)

// Fact is a name and what stands beside it.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Column is the head of a column. Form is how its numbers are written: FormCount, FormNumber, or as a share.
type Column struct {
	Title string `json:"title"`
	Form  string `json:"form,omitempty" enum:"count,number"`
}

// The forms of numbers.
const (
	FormCount  = "count"
	FormNumber = "number"
)

// Cell is a text, or a number with its 95 % interval where there is one. The cell of a number has no text.
type Cell struct {
	Text  string   `json:"text,omitempty"`
	Value *float64 `json:"value,omitempty"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
}

// Chart is a chart of series. Form is ChartLine, ChartDots or ChartBars.
type Chart struct {
	Form string    `json:"form" enum:"line,dots,bars"`
	X    ChartAxis `json:"x"`
	Y    ChartAxis `json:"y"`
	// SameUnit says that both axes have the same unit and no marks: only distances mean something.
	SameUnit bool     `json:"same_unit,omitempty"`
	Series   []Series `json:"series"`
	// Rules are vertical lines with a label.
	Rules []ChartRule `json:"rules,omitempty"`
	// Summary says in words what is drawn.
	Summary string `json:"summary"`
	// File is the name, without an ending, under which the chart is delivered as a picture, empty for none.
	File string `json:"file,omitempty" pattern:"^[a-z_]{1,60}$"`
}

// The forms of charts. The points of bars are where one begins, where it ends, and its height.
const (
	ChartLine = "line"
	ChartDots = "dots"
	ChartBars = "bars"
)

// ChartAxis names an axis. Labels are the words at 0, 1, 2 and so on; without them, the axis has numbers.
type ChartAxis struct {
	Title  string   `json:"title"`
	Log    bool     `json:"log,omitempty"`
	Zero   bool     `json:"zero,omitempty"`
	Labels []string `json:"labels,omitempty"`
}

// Series is points with a name. A point has two numbers, and a third one for bars. Ranges are intervals, of three numbers: place, low, high.
type Series struct {
	Name   string      `json:"name,omitempty"`
	Points [][]float64 `json:"points"`
	Ranges [][]float64 `json:"ranges,omitempty"`
}

// ChartRule is a vertical line.
type ChartRule struct {
	At    float64 `json:"at"`
	Label string  `json:"label"`
}

// Matrix counts by two lists of labels. Same says that both lists are the same, so that the diagonal is right.
type Matrix struct {
	RowTitle    string   `json:"row_title"`
	ColumnTitle string   `json:"column_title"`
	RowLabels   []string `json:"row_labels"`
	Labels      []string `json:"column_labels"`
	Counts      [][]int  `json:"counts"`
	Same        bool     `json:"same,omitempty"`
}

// Picture is a small PNG in base64 with boxes on it.
type Picture struct {
	PNG      string    `json:"png"`
	Caption  string    `json:"caption,omitempty"`
	Overlays []Overlay `json:"overlays,omitempty"`
}

// Overlay is a box on a picture, in shares of its width and height.
type Overlay struct {
	Left   float64 `json:"left"`
	Top    float64 `json:"top"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	Label  string  `json:"label,omitempty"`
	Mark   Mark    `json:"mark,omitempty" enum:"right,wrong,shown"`
}

// Marked is a text in parts. Where says which row it is.
type Marked struct {
	Parts []MarkedPart `json:"parts"`
	Where string       `json:"where,omitempty"`
}

// MarkedPart is some words. Note stands beside the words that are marked.
type MarkedPart struct {
	Text string `json:"text"`
	Mark Mark   `json:"mark,omitempty" enum:"right,wrong,shown"`
	Note string `json:"note,omitempty"`
}

// Mark is how words or a box are drawn, empty for plain ones.
type Mark string

// The marks.
const (
	MarkRight Mark = "right"
	MarkWrong Mark = "wrong"
	// MarkShown is neither.
	MarkShown Mark = "shown"
)
