// Package sweep has the command that trains on one dataset with several numbers of workers and epochs, and compares time and scores.
//
// It owns the folder of a sweep: sweep.json, which holds the finished trainings, sweep.csv, sweep.html, and one folder with the results of
// each training. A training that is in sweep.json is not repeated. The caller carries out the trainings.
package sweep
