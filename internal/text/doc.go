// Package text writes words and numbers for people: one spelling of sizes, durations, counts and lists everywhere.
//
// It also makes texts of strangers fit to be shown. Any package may use this one; it uses none of the others. The names of
// metrics are not here: they belong to the results.
package text
