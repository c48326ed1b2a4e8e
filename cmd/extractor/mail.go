package main

import (
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/mail"
)

// notifier tells users by e-mail of the ends of their jobs, but for requests about runs, which take seconds. It is nil where no server is set.
func notifier(set settings.Settings, store mail.Records, log *zap.Logger) (*mail.Notifier, error) {
	if set.EmailServer == "" {
		return nil, nil
	}
	return mail.New(mail.Config{
		Server: set.EmailServer, Sender: set.EmailSender, Log: log.Named("mail"),
		Wanted: func(rec job.Record) bool { return rec.Kind != job.Runs },
	}, store)
}
