package basemodels

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ncsa/clowder-ray/internal/basemodel"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Environment is what the commands need from the program.
type Environment struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Getenv reads an environment variable: HF_ENDPOINT and HF_TOKEN.
	Getenv func(name string) string
	// Roots are the certificates that are trusted for a ZIP file at an address; nil means those of the system.
	Roots *x509.CertPool
	// Store opens the folder of models that the settings of a command name.
	Store func(cmd *cobra.Command) (*basemodel.Store, error)
}

// Commands returns the commands install, installed, verify, bundle and remove.
func Commands(env Environment) []*cobra.Command {
	return []*cobra.Command{env.installCommand(), env.installedCommand(), env.verifyCommand(), env.bundleCommand(), env.removeCommand()}
}

// args checks the number of arguments. The error ends with exit code 2, as a wrong flag does.
func args(least, most int, usage string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || most >= 0 && len(args) > most {
			return job.Permanent(errors.New("usage: extractor " + usage))
		}
		return nil
	}
}

func (env Environment) installedCommand() *cobra.Command {
	return &cobra.Command{
		Use: "installed", Aliases: []string{"list"}, Short: "List the installed base models; * marks the default of a kind",
		Args: args(0, 0, "models installed"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := env.Store(cmd)
			if err != nil {
				return err
			}
			all, err := store.List()
			if err != nil {
				return err
			}
			return env.list(all)
		},
	}
}

func (env Environment) list(all []basemodel.Installed) error {
	tw := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, "MODEL\t\tKIND\tARCHITECTURE\tPARAMETERS\tSIZE\tLICENSE\tCOMMIT\tINSTALLED")
	for _, one := range all {
		m := one.Model
		if m == nil {
			_, _ = fmt.Fprintf(tw, "%s\t\t%s\n", one.ID, "(copied by hand, without "+basemodel.ModelFile+")")
			if !errors.Is(one.Fault, fs.ErrNotExist) {
				_, _ = fmt.Fprintf(env.Stderr, "warning: the description of %s cannot be read: %s\n", one.ID, one.Fault)
			}
			continue
		}
		mark := ""
		if m.Default {
			mark = "*"
		}
		_, _ = fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.ID, mark, m.Kind, m.Architecture, parameters(m.Parameters),
			text.Bytes(m.Bytes()), m.License, short(m.Commit), m.Installed.Format(time.DateOnly))
	}
	return tw.Flush()
}

// parameters writes a number of parameters: 22.7 M.
func parameters(n int64) string {
	if n == 0 {
		return "unknown"
	}
	value, unit := humanize.ComputeSI(float64(n))
	if unit == "k" {
		unit = "K"
	}
	return text.Decimal(value, 1) + " " + unit
}

// short is the beginning of a commit, or a dash for a model without one.
func short(commit string) string {
	if commit == "" {
		return "-"
	}
	return commit[:min(len(commit), 10)]
}

func (env Environment) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "verify [NAME]", Short: "Compare the files of one base model or of all with what was installed",
		Args: args(0, 1, "models verify [NAME]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := env.Store(cmd)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				all, err := store.List()
				if err != nil {
					return err
				}
				for _, one := range all {
					args = append(args, one.ID)
				}
			}
			return env.verify(cmd.Context(), store, args)
		},
	}
}

// verify fails if a model differs. A model without a description among several is reported like one that differs.
func (env Environment) verify(ctx context.Context, store *basemodel.Store, ids []string) error {
	differ := 0
	for _, id := range ids {
		faults, err := store.Verify(ctx, id)
		if err != nil {
			if len(ids) == 1 || ctx.Err() != nil {
				return err
			}
			faults = []string{err.Error()}
		}
		if len(faults) == 0 {
			_, _ = fmt.Fprintf(env.Stdout, "ok    %s\n", id)
			continue
		}
		differ++
		for _, fault := range faults {
			_, _ = fmt.Fprintf(env.Stdout, "FAIL  %s: %s\n", id, fault)
		}
	}
	if differ > 0 {
		return fmt.Errorf("files differ in %s of %s: install again", text.Number(differ), text.Count(len(ids), "model"))
	}
	return nil
}

func (env Environment) removeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove a base model", Args: args(1, 1, "models remove NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := env.Store(cmd)
			if err != nil {
				return err
			}
			if err := store.Remove(cmd.Context(), args[0]); err != nil {
				return err
			}
			_, err = fmt.Fprintf(env.Stdout, "removed %s\n", args[0])
			return err
		},
	}
}

func (env Environment) bundleCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "bundle NAME... --out FILE.zip", Short: "Write base models into one ZIP file, for a machine without internet",
		Args: args(1, -1, "models bundle NAME... --out FILE.zip"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return job.Permanent(errors.New("usage: extractor models bundle NAME... --out FILE.zip"))
			}
			store, err := env.Store(cmd)
			if err != nil {
				return err
			}
			size, err := writeBundle(cmd.Context(), store, args, out)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(env.Stdout, "wrote %s to %s (%s)\n", text.Count(len(args), "model"), out, text.Bytes(size))
			return err
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the ZIP file to write")
	return cmd
}

// writeBundle writes a file that appears only when it is complete.
func writeBundle(ctx context.Context, store *basemodel.Store, ids []string, name string) (size int64, err error) {
	part, err := os.CreateTemp(filepath.Dir(name), ".part-*")
	if err != nil {
		return 0, job.Permanent(fmt.Errorf("write the bundle: %w", err))
	}
	err = store.Bundle(ctx, part, ids)
	if info, statErr := part.Stat(); statErr == nil {
		size = info.Size()
	}
	if err = errors.Join(err, part.Chmod(0o644), part.Sync(), part.Close()); err == nil {
		err = os.Rename(part.Name(), name)
	}
	if err != nil {
		return 0, errors.Join(err, os.Remove(part.Name()))
	}
	return size, nil
}
