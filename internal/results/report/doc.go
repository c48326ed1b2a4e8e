// Package report explains a result to a person: the verdict in one sentence, the advice, the report (an HTML fragment), the model
// card and the code that uses the model.
//
// The same result and the same Meta give the same bytes. Every text that comes from the trainer or the data is escaped where it
// is shown, so a report holds no script and loads nothing from elsewhere.
package report
