package main

import (
	"github.com/spf13/cobra"
)

// The names of the extractors, as a job on folders asks for them.
const (
	finetuner = "ncsa.ray.finetune"
	predictor = "ncsa.ray.predict"
)

func (p *program) runCommand() *cobra.Command {
	const usage = "run DATASET_DIR --out DIR"
	cmd := &cobra.Command{
		Use: usage, Short: "Train on a local folder, without broker and Clowder",
		Long: "Trains on the files of a folder as the service does on a dataset, and puts what it would upload into another folder.\n" +
			"Ends with 0, with 2 when the data or a parameter has to be changed, with 1 for anything else.",
		Args: one(usage + " [--param key=value]..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := p.settings(cmd)
			if err != nil {
				return err
			}
			r, err := newLocalRequest(cmd, args[0], finetuner)
			if err != nil {
				return err
			}
			return p.runLocally(cmd, set, r)
		},
	}
	addLocalFlags(cmd)
	return cmd
}
