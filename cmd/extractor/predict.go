package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/ncsa/clowder-ray/internal/platform/folder"
	"github.com/ncsa/clowder-ray/internal/registry"
)

// findModel returns an error if no registered model has this name. A local user may use every model on this machine.
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
		Use: usage, Short: "Predict on a local folder, without RabbitMQ and Clowder",
		Long: "Predicts the rows of the files in a folder with the model of an earlier run: its model.zip, an unpacked model.zip, or a\n" +
			"model that \"extractor models\" lists, as NAME, NAME/VERSION, NAME@champion or RUN. Default: the newest listed model.\n" +
			"Exit codes: 0 for success, 2 if the data, the model or a parameter must be changed, 1 for any other error.",
		Args: argCount(1, 1, usage+" [--param key=value]..."),
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
					return err // before Ray is started
				}
			}
			return p.runLocally(cmd, set, r)
		},
	}
	addLocalFlags(cmd)
	cmd.Flags().String("model", "", "model.zip, the folder of a model, or the name of a registered model")
	return cmd
}
