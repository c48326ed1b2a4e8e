package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ncsa/clowder-ray/internal/job"
)

// manageCommands are the commands that cancel, stop and retry a job. They change its record; the running service does the rest.
func (p *program) manageCommands() []*cobra.Command {
	return []*cobra.Command{
		{
			Use: "cancel RUN", Short: "Cancel a job immediately", Args: argCount(1, 1, "jobs cancel RUN"),
			RunE: p.change("the service will cancel %s\n", func(r *job.Record) error { return r.Cancel(administrator()) }),
		},
		{
			Use: "stop RUN", Short: "Stop a training after its current step and keep its best model", Args: argCount(1, 1, "jobs stop RUN"),
			RunE: p.change("%s will stop after its current step and keep its best model\n", func(r *job.Record) error { return r.Stop(administrator()) }),
		},
		{
			Use: "retry RUN", Short: "Restart a failed or cancelled job", Args: argCount(1, 1, "jobs retry RUN"),
			RunE: p.change("the service will retry %s\n", (*job.Record).Retry),
		},
	}
}

// change returns a command that changes the record of a job and prints a message.
func (p *program) change(message string, change func(*job.Record) error) func(*cobra.Command, []string) error {
	return p.withStore(func(ctx context.Context, s job.Store, _ *cobra.Command, args []string) error {
		if _, err := s.Change(ctx, args[0], change); err != nil {
			return notFound(err, args[0])
		}
		_, err := fmt.Fprintf(p.stdout, message, args[0])
		return err
	})
}
