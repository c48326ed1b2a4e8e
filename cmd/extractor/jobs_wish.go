package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
)

// wishCommands are those with which an operator decides over a job. They change its record; the running service does the rest.
func (p *program) wishCommands() []*cobra.Command {
	return []*cobra.Command{
		{
			Use: "cancel RUN", Short: "End a job at once; the service tells Clowder", Args: between(1, 1, "jobs cancel RUN"),
			RunE: p.wish("%s will be cancelled by the running service\n", func(r *job.Record) error { return r.Cancel(operator()) }),
		},
		{
			Use: "stop RUN", Short: "End a training at its next step and keep its best model", Args: between(1, 1, "jobs stop RUN"), RunE: p.stopJob,
		},
		{
			Use: "retry RUN", Short: "Begin a failed job anew", Args: between(1, 1, "jobs retry RUN"),
			RunE: p.wish("%s will be tried again by the running service\n", (*job.Record).Retry),
		},
	}
}

// stopJob asks the forms which jobs are trainings.
func (p *program) stopJob(cmd *cobra.Command, args []string) error {
	set, err := p.settings(cmd)
	if err != nil {
		return err
	}
	all, err := extractors(set, volume.Volume{Dir: set.SharedDir})
	if err != nil {
		return err
	}
	stop := p.wish("%s will end at its next step and keep its best model\n", func(r *job.Record) error { return all.Stop(r, operator()) })
	return stop(cmd, args)
}

// wish changes the record of the job that a command names, and says so.
func (p *program) wish(said string, change func(*job.Record) error) func(*cobra.Command, []string) error {
	return p.withStore(func(ctx context.Context, s job.Store, _ *cobra.Command, args []string) error {
		if _, err := s.Change(ctx, args[0], change); err != nil {
			return notFound(err, args[0])
		}
		_, err := fmt.Fprintf(p.stdout, said, args[0])
		return err
	})
}
