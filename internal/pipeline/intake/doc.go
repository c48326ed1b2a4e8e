// Package intake turns what comes to the service into records: messages of users, announcements of new files, and messages that were lost.
//
// A message is acknowledged after its job is on disk, so a kill between the two brings the message again, and the job is recognized. What can
// never become a job goes to the error queue, unchanged. The package schedules jobs and does not work on them: it knows no stages, no Ray and
// no files.
package intake
