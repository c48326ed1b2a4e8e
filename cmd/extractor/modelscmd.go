package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline"
	"github.com/ncsa/clowder-ray/internal/registry"
)

// modelsCommand reads and changes the registry on the shared volume, also while the service runs.
func (p *program) modelsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "models [DATASET]", Short: "List the versions of all models, or of a dataset; * marks the champions",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return job.Permanent(errors.New("usage: extractor models [DATASET]"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			models, err := p.registry(cmd)
			if err != nil {
				return err
			}
			return listModels(p.stdout, models, strings.Join(args, ""))
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use: "promote DATASET NAME/VERSION", Short: "Make a version the champion of its name",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return job.Permanent(errors.New("usage: extractor models promote DATASET NAME/VERSION"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			models, err := p.registry(cmd)
			if err != nil {
				return err
			}
			return promote(p.stdout, models, args[0], args[1])
		},
	})
	return cmd
}

func (p *program) registry(cmd *cobra.Command) (*registry.Registry, error) {
	set, err := p.settings(cmd)
	if err != nil {
		return nil, err
	}
	return registry.New(pipeline.Volume{Dir: set.SharedDir}.Registry()), nil
}

// listModels lists the versions of the dataset with this id or name, or of all datasets.
func listModels(w io.Writer, models *registry.Registry, dataset string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tw, "DATASET\tMODEL\t\tTASK\tTEST\tBASE\tCREATED\tRUN\tNAME OF THE DATASET")
	for _, id := range models.Datasets() {
		versions, err := models.All(id)
		if err != nil {
			return err
		}
		for _, v := range versions {
			if dataset != "" && dataset != id && dataset != v.DatasetName {
				continue
			}
			champion, err := models.Champion(id, v.Name)
			if err != nil {
				return err
			}
			mark := ""
			if champion != nil && champion.Version == v.Version {
				mark = "*"
			}
			_, _ = fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", id, v.Ref(), mark, v.Task, testScore(v), v.Base,
				v.Created.Format(time.DateTime), v.Run, cut(v.DatasetName, 40))
		}
	}
	return tw.Flush()
}

func testScore(v registry.Version) string {
	if v.Test == nil {
		return "no test rows"
	}
	return fmt.Sprintf("%s %.3f", v.Metric, v.Test.Value)
}

func promote(w io.Writer, models *registry.Registry, dataset, ref string) error {
	name, number, ok := strings.Cut(ref, "/")
	n, err := strconv.Atoi(number)
	if !ok || err != nil {
		return job.Permanent(fmt.Errorf("%s: write the model as NAME/VERSION, see extractor models", ref))
	}
	if !slices.Contains(models.Datasets(), dataset) {
		return job.Permanent(fmt.Errorf("the dataset %s has no models: extractor models lists those that have, by their ids", dataset))
	}
	v, err := models.Promote(dataset, name, n)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s is the champion of %s\n", v.Ref(), v.Name)
	return err
}
