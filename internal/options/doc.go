// Package options is the table of options as the service reads it, and the one parser of their values.
//
// The trainer declares the options; make contract writes them into trainer/contract/options.json. This package reads values from forms, from
// lines of text and from settings files in YAML, JSON and literal Python, says with line and column what is wrong in them, and decides which of
// several sources of an option counts. Texts come from users: their size and depth are bounded, and none of their code runs.
package options
