package main

import (
	"github.com/spf13/cobra"
)

// The names of the extractors. A local training uses advanced, so that --param accepts every option.
const (
	finetuner = "ncsa.ray.finetune"
	advanced  = "ncsa.ray.finetune-advanced"
	predictor = "ncsa.ray.predict"
	scripter  = "ncsa.ray.script"
)

func (p *program) runCommand() *cobra.Command {
	const usage = "run DATASET_DIR --out DIR"
	cmd := &cobra.Command{
		Use: usage, Short: "Train on a local folder, without RabbitMQ and Clowder",
		Long: "Trains on the files of a folder, as the service does for a dataset, and writes the results into another folder.\n" +
			"--from repeats an earlier training with the settings and the seed of its manifest.json, and then says whether the\n" +
			"weights are the same.\n" +
			"Exit codes: 0 for success, 2 if the data or a parameter must be changed, 1 for any other error.",
		Args: argCount(1, 1, usage+" [--param key=value]..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := p.settings(cmd)
			if err != nil {
				return err
			}
			r, err := newLocalRequest(cmd, args[0], advanced)
			if err != nil {
				return err
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
	cmd.Flags().String("from", "", "manifest.json of the training to repeat")
	return cmd
}
