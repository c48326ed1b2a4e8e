// Package runs is the section of the studio about runs: the list, the page of one run, the comparison of several, and what a visitor does
// with a run or starts. Pages and the JSON API show the same views and call the same methods.
package runs
