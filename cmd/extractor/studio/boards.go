package studio

import (
	"github.com/ncsa/clowder-ray/internal/sidecar"
	"github.com/ncsa/clowder-ray/internal/studio/boards"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// boards returns the section about TensorBoard, or nil where the setting TENSORBOARD is off: then its addresses are those of no page.
func (p *Parts) boards(site *web.Site, set *Settings, access boards.Access) *boards.Section {
	if !set.TensorBoard {
		return nil
	}
	var process sidecar.Process = sidecar.NewRemote(set.TensorBoardURL, "TENSORBOARD_TOKEN_FILE", set.TensorBoardToken)
	if set.TensorBoardURL == "" {
		process = sidecar.NewLocal(sidecar.LocalConfig{
			Name: "TensorBoard", Python: p.Python, Trainer: p.Trainer, Arguments: []string{"board", "--with-parent"}, TokenVariable: "BOARD_TOKEN",
			Log: p.Log.Named("tensorboard"),
		})
	}
	return boards.New(site, boards.Parts{Access: access, Folder: p.Volume.Run, Process: process})
}
