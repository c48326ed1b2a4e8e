package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// jobsCommand reads and changes the job store, also while the service runs: both see each other's changes.
func (p *program) jobsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "jobs", Short: "List, show, cancel, stop and retry jobs", Args: cobra.NoArgs}
	list := &cobra.Command{
		Use: "list", Short: "List jobs, the newest last", Args: cobra.NoArgs,
		RunE: p.withStore(func(ctx context.Context, s job.Store, cmd *cobra.Command, _ []string) error {
			all, _ := cmd.Flags().GetBool("all")
			limit, _ := cmd.Flags().GetInt("limit")
			recs, err := s.List(ctx, job.Query{Active: !all, Limit: limit})
			if err != nil {
				return err
			}
			return listJobs(p.stdout, recs, p.leftOut.jobs)
		}),
	}
	list.Flags().Bool("all", true, "also list finished jobs")
	list.Flags().Int("limit", 50, "largest number of jobs to list; 0 means all")

	show := &cobra.Command{
		Use: "show RUN", Short: "Show the details of a job", Args: argCount(1, 1, "jobs show RUN"),
		RunE: p.withStore(func(ctx context.Context, s job.Store, _ *cobra.Command, args []string) error {
			rec, err := s.Get(ctx, args[0])
			if err != nil {
				return notFound(err, args[0])
			}
			return showJob(p.stdout, rec)
		}),
	}
	logs := &cobra.Command{
		Use: "logs RUN", Short: "Print the logs of a training", Args: argCount(1, 1, "jobs logs RUN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := p.settings(cmd)
			if err != nil {
				return err
			}
			return printLogs(p.stdout, volume.Volume{Dir: set.SharedDir}.Run(args[0]), args[0])
		},
	}
	cmd.AddCommand(append(p.manageCommands(), list, show, logs)...)
	return cmd
}

// withStore runs a command with the open job store.
func (p *program) withStore(f func(context.Context, job.Store, *cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		set, err := p.settings(cmd)
		if err != nil {
			return err
		}
		if _, err := os.Stat(set.StorePath()); errors.Is(err, os.ErrNotExist) {
			return job.Permanent(fmt.Errorf("%s does not exist: set STATE_DIR to the state folder of the service", set.StorePath()))
		}
		s, err := openStore(cmd.Context(), set, job.WithLeftOut(func(run string, why error) { p.leftOut.add(run, why) }))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		return f(cmd.Context(), s, cmd, args)
	}
}

func notFound(err error, run string) error {
	switch {
	case errors.Is(err, job.ErrNotFound):
		return job.Permanent(fmt.Errorf("the job %s does not exist: extractor jobs list shows all jobs", run))
	case errors.Is(err, job.ErrDamaged):
		_, remedy := unreadable(err)
		return job.Permanent(fmt.Errorf("%w: %s", err, remedy))
	}
	return err
}

// administrator names the user of this command, for the status that the user of Clowder reads.
func administrator() string {
	if u, err := user.Current(); err == nil {
		return "the administrator (" + u.Username + ")"
	}
	return "the administrator"
}

// listJobs prints the jobs, and below them those whose records cannot be read.
func listJobs(w io.Writer, recs []job.Record, leftOut map[string]error) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, "RUN\tEXTRACTOR\tSTATE\tATTEMPT\tAGE\tDATASET\tNOTE")
	for _, r := range recs {
		note := r.LastError
		if r.Ending != nil {
			note = r.Ending.Text
		}
		age := max(0, time.Since(r.Created)).Round(time.Second)
		_, _ = fmt.Fprintf(tw, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", r.Run, extractorOf(r), r.State, r.Attempt, age, r.Request.Name, text.Excerpt(note, 80))
	}
	for _, run := range sortedKeys(leftOut) {
		word, remedy := unreadable(leftOut[run])
		_, _ = fmt.Fprintf(tw, "%s\t\t%s\t\t\t\t%s\n", run, word, remedy)
	}
	return tw.Flush()
}

// extractorOf returns the name of a job's extractor. Records of the first versions have none, since there was only one.
func extractorOf(r job.Record) string { return cmp.Or(r.Request.Extractor, finetuner) }

// modelOf returns the model version that a job uses for predictions or has created.
func modelOf(r job.Record) string {
	var v registry.Version
	if err := json.Unmarshal(r.Model, &v); err != nil {
		return "unreadable: " + err.Error()
	}
	return v.Ref()
}

func showJob(w io.Writer, r job.Record) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	// Users have written some of the values, which must not change the terminal.
	line := func(name string, value any) { _, _ = fmt.Fprintf(tw, "%s\t%s\n", name, text.Lines(fmt.Sprint(value))) }
	line("run", r.Run)
	line("extractor", extractorOf(r))
	line("state", r.State)
	line("attempt", r.Attempt)
	line("clowder job", r.Request.JobID)
	line("clowder version", r.Request.APIVersion)
	line("dataset", r.Request.DatasetID+" "+r.Request.Name)
	line("accepted", r.Created.Format(time.RFC3339))
	line("changed", r.Updated.Format(time.RFC3339))
	for _, moment := range []struct {
		name string
		at   time.Time
	}{{"submitted", r.Began}, {"training since", r.Trained}, {"next attempt", r.NotBefore}} {
		if !moment.at.IsZero() {
			line(moment.name, moment.at.Format(time.RFC3339))
		}
	}
	if len(r.Model) > 0 {
		line("model", modelOf(r))
	}
	if r.Handle != nil {
		line("ray", strings.TrimSpace(r.Handle.Backend+" "+r.Handle.ID+" "+r.Handle.Address))
	}
	if r.LastError != "" {
		line("last error", r.LastError)
	}
	if r.Ending != nil {
		line("ending", fmt.Sprintf("%s: %s", r.Ending.State, r.Ending.Text))
	}
	for _, name := range sortedKeys(r.Settings.Values) {
		line("  "+name, r.Settings.Values[name])
	}
	return tw.Flush()
}

// printLogs prints the logs of a run. It is an error if there are none.
func printLogs(w io.Writer, dir disk.Folder, run string) error {
	printed, err := results.PrintLogs(w, dir)
	if err == nil && !printed {
		err = job.Permanent(fmt.Errorf("the job %s has no logs: its training has not started, or SHARED_DIR is not the shared volume of the service", run))
	}
	return err
}
