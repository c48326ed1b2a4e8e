package job

import (
	"path"
	"strings"

	"github.com/ncsa/clowder-ray/internal/text"
)

// Choice says that a field of the form names a file. It belongs to the time of staging: afterwards the name of the file tells it.
type Choice struct {
	// Field is the field of the form.
	Field string
	// Where are the dataset, if it is another one than that of the job, and the folder that was chosen.
	Where []string
	// Inner is the name of the file below that folder, or its base name where the file itself was chosen.
	Inner string
	// Exact says how closely the field names the file, among several that do: the depth of the folder, and more for the file itself.
	Exact int
}

// ExactFile is the value of Choice.Exact for a field that names the file itself.
const ExactFile = 1 << 20

// ChosenName is the name of a file that was chosen for a purpose, such as test. Its first folder says so, and where it is from. The trainer
// reads it (trainer/data/names.py), so that the choice counts before whatever the names of files and folders say.
func (c Choice) ChosenName(purpose string) string {
	words := append([]string{"form"}, c.Where...)
	for i, word := range words {
		words[i] = text.Excerpt(strings.ReplaceAll(word, "/", ", "), 80)
	}
	return path.Join(purpose+" ("+strings.Join(words, ", ")+")", c.Inner)
}
