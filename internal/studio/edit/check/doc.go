// Package check finds mistakes in the text files of a dataset before a training reads them: in the syntax of YAML, JSON, TOML and Python, and in
// the options of a settings file, which package options reads for the training, too. Each finding has a line and a column. Texts come from users:
// their size and depth are bounded, and none of their code runs.
package check
