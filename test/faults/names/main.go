// Command names prints the arguments with which go test runs the tests of every fault, and nothing else.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/ncsa/clowder-ray/test/faults"
)

func main() {
	var packages, names []string
	for _, fault := range faults.Matrix() {
		for _, test := range fault.Tests {
			dir, name, _ := strings.Cut(test, ".")
			packages, names = append(packages, "./"+dir), append(names, name)
		}
	}
	_, _ = fmt.Fprintln(os.Stdout, "-run", "^("+strings.Join(unique(names), "|")+")$", strings.Join(unique(packages), " "))
}

func unique(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}
