package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/ncsa/clowder-ray/internal/platform/folder"
	"github.com/ncsa/clowder-ray/internal/registry"
)

// findModel finds out whether there is a registered model of this name; all that are on this machine may be used.
func (p *program) findModel(cmd *cobra.Command, name string) error {
	models, err := p.registry(cmd)
	if err != nil {
		return err
	}
	_, err = models.Find(registry.Dataset{ID: registry.Local}, name, func(string) (bool, error) { return true, nil })
	return err
}

func (p *program) predictCommand() *cobra.Command {
	const usage = "predict DATASET_DIR --model MODEL --out DIR"
	cmd := &cobra.Command{
		Use: usage, Short: "Apply a model to a local folder, without broker and Clowder",
		Long: "Predicts the files of a folder with a model of an earlier run: its model.zip, the folder that was in it, or one of those\n" +
			"that extractor models lists, as NAME, NAME/VERSION, NAME@champion or RUN. Without --model it is the newest of those.\n" +
			"Ends with 0, with 2 when the data, the model or a parameter has to be changed, with 1 for anything else.",
		Args: between(1, 1, usage+" [--param key=value]..."),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := p.settings(cmd)
			if err != nil {
				return err
			}
			r, err := newLocalRequest(cmd, args[0], predictor)
			if err != nil {
				return err
			}
			if model, _ := cmd.Flags().GetString("model"); model != "" {
				r.parameters["model"] = model
				if _, err := os.Stat(model); err == nil {
					r.model, r.parameters["model_file"] = model, folder.GivenModel
				} else if err := p.findModel(cmd, model); err != nil {
					return err // before Ray is started for nothing
				}
			}
			return p.runLocally(cmd, set, r)
		},
	}
	addLocalFlags(cmd)
	cmd.Flags().String("model", "", "model.zip, the folder of a model, or the name of a registered one")
	return cmd
}
