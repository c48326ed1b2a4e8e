package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/cmd/extractor/sweep"
	"github.com/ncsa/clowder-ray/internal/job"
)

// version is set by the linker.
var version = "dev"

// The exit codes. 2 means that the user must change the input or a setting.
const (
	exitOK       = 0
	exitFailed   = 1
	exitBadInput = 2
)

// program holds what all commands share: the environment and the outputs, which tests replace.
type program struct {
	environ        []string
	stdout, stderr io.Writer
	// leftOut are the jobs that a list of this command has left out.
	leftOut leftOut
}

// getenv reads a variable of the environment.
func (p *program) getenv(name string) string {
	for _, entry := range p.environ {
		if key, value, _ := strings.Cut(entry, "="); key == name {
			return value
		}
	}
	return ""
}

// run executes one command line and returns the exit code. It returns only after everything it started has stopped.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	p := &program{environ: environ, stdout: stdout, stderr: stderr}
	root := p.root()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	_, _ = fmt.Fprintln(stderr, "extractor:", err)
	if kind, _ := job.Classify(err); kind == job.KindPermanent {
		return exitBadInput
	}
	return exitFailed
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "extractor",
		Short: "Finetune models on Clowder datasets with Ray",
		Long: "Trains models on a local folder (run, predict, sweep), or as a service for the datasets of Clowder (serve and the other commands).\n" +
			"Each command has its own help: extractor run --help.",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return job.Permanent(err) })
	settings.AddFlags(root.PersistentFlags())
	root.AddCommand(p.serveCommand(), p.runCommand(), p.predictCommand(), p.modelsCommand(), p.jobsCommand(), p.doctorCommand(),
		p.rayCommand(), p.readyCommand(), p.versionCommand(), sweep.Command(sweep.Environment{Stdout: p.stdout, Open: p.openSweep}))
	refuseMistakes(root)
	showSettingsOnce(root)
	return root
}

// showSettingsOnce lists the settings in the help of serve alone. Each command takes them, but a reader of its help looks for its own flags.
func showSettingsOnce(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd.Name() == "serve" {
			help(cmd, args)
			return
		}
		settings.HideFlags(root.PersistentFlags())
		help(cmd, args)
		cmd.Println("\nThe settings, such as --shared-dir, are flags of each command, too: extractor serve --help lists them.")
	})
}

// refuseMistakes makes arguments that a command does not take permanent errors, which end with exit code 2; also the name of a command that
// a group such as jobs does not have.
func refuseMistakes(cmd *cobra.Command) {
	if !cmd.Runnable() {
		cmd.Args, cmd.RunE = cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error { return job.Permanent(check(cmd, args)) }
	}
	for _, sub := range cmd.Commands() {
		refuseMistakes(sub)
	}
}

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(p.stdout, "extractor %s (%s)\n", version, runtime.Version())
			return err
		},
	}
}

// openSweep starts what the trainings of a sweep share. All of them use Ray, so that numbers of workers can be compared.
func (p *program) openSweep(cmd *cobra.Command) (sweep.Trainer, error) {
	set, err := p.settings(cmd)
	if err != nil {
		return nil, err
	}
	return p.openLocal(cmd, set, true)
}

// settings reads the settings for a command. An invalid setting is a permanent error, which ends with exit code 2.
func (p *program) settings(cmd *cobra.Command) (settings.Settings, error) {
	s, err := settings.Read(cmd.Flags(), p.environ)
	return s, job.Permanent(err)
}

// argCount is cobra.RangeArgs with a permanent error, which ends with exit code 2.
func argCount(least, most int, usage string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return job.Permanent(errors.New("usage: extractor " + usage))
		}
		return nil
	}
}
