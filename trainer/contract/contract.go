// Package contract holds what the trainer declares in Python and the service must know, too. make contract writes its files.
package contract

import _ "embed"

// Options is the table of options: an object with the options of each kind of run, and the names of settings files.
//
//go:embed options.json
var Options []byte
