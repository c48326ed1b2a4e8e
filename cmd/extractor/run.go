package main

import (
	"maps"

	"github.com/spf13/cobra"

	"github.com/ncsa/clowder-ray/cmd/extractor/scripts"
	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/job"
)

// The names of the extractors. A local training uses advanced, so that --param accepts every option.
const (
	finetuner = "ncsa.ray.finetune"
	advanced  = "ncsa.ray.finetune-advanced"
	predictor = "ncsa.ray.predict"
	scripter  = "ncsa.ray.script"
)

func (p *program) runCommand() *cobra.Command {
	const usage = "run DATASET_DIR --out DIR [--script FILE] [-- ARGUMENTS]"
	cmd := &cobra.Command{
		Use: usage, Short: "Train on a local folder, or run a script in it, without RabbitMQ and Clowder",
		Long: "Trains on the files of a folder, as the service does for a dataset, and writes the results into another folder.\n" +
			"--from repeats an earlier training or script with the settings of its manifest.json, and then says whether the weights\n" +
			"or the files are the same.\n" +
			"--script runs a training script of the folder in a sandbox, with the arguments after --. --script auto finds the script.\n" +
			"Exit codes: 0 for success, 2 if the data or a parameter must be changed, 1 for any other error.",
		Args: datasetAndArguments(usage + " [--param key=value]..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := p.settings(cmd)
			if err != nil {
				return err
			}
			r, err := newLocalRequest(cmd, args[0], advanced)
			if err != nil {
				return err
			}
			if entry, _ := cmd.Flags().GetString("script"); entry != "" {
				return p.runScript(cmd, set, r, entry, args[1:])
			}
			from, _ := cmd.Flags().GetString("from")
			if from == "" {
				return p.runLocally(cmd, set, r)
			}
			old, err := p.repeat(cmd.Context(), set, from, &r)
			if err != nil {
				return err
			}
			if err := p.runLocally(cmd, set, r); err != nil {
				return err
			}
			return p.compare(old, r.out)
		},
	}
	addLocalFlags(cmd)
	cmd.Flags().String("script", "", "run this script of the folder in a sandbox; auto finds the script")
	cmd.Flags().String("from", "", "manifest.json of the training or script to repeat")
	return cmd
}

// datasetAndArguments accepts one folder, and the arguments of a script after --.
func datasetAndArguments(usage string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		own := len(args)
		if dash := cmd.ArgsLenAtDash(); dash >= 0 {
			own = dash
		}
		if entry, _ := cmd.Flags().GetString("script"); own < len(args) && entry == "" {
			return job.Permanent(scripts.ErrNoArguments)
		}
		return argCount(1, 1, usage)(cmd, args[:own])
	}
}

// runScript runs a script of the folder.
func (p *program) runScript(cmd *cobra.Command, set settings.Settings, r localRequest, entry string, arguments []string) error {
	values, err := scripts.Local(r.dataset, entry, arguments)
	if err != nil {
		return err
	}
	r.extractor = scripter
	maps.Copy(r.parameters, values)
	return p.runLocally(cmd, set, r)
}
