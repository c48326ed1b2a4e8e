package main

import (
	"github.com/spf13/cobra"
)

// The names of the extractors. A training on folders is one of advanced, so that --param takes every option.
const (
	finetuner = "ncsa.ray.finetune"
	advanced  = "ncsa.ray.finetune-advanced"
	predictor = "ncsa.ray.predict"
)

func (p *program) runCommand() *cobra.Command {
	const usage = "run DATASET_DIR --out DIR"
	cmd := &cobra.Command{
		Use: usage, Short: "Train on a local folder, without broker and Clowder",
		Long: "Trains on the files of a folder as the service does on a dataset, and puts what it would upload into another folder.\n" +
			"With --from it does a training again: with the settings and the seed of its manifest.json, and at the end it says whether\n" +
			"the weights are the same.\n" +
			"Ends with 0, with 2 when the data or a parameter has to be changed, with 1 for anything else.",
		Args: between(1, 1, usage+" [--param key=value]..."),
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
	cmd.Flags().String("from", "", "manifest.json of a training to do again")
	return cmd
}
