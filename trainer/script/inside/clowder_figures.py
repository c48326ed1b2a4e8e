"""A backend of matplotlib: show() saves every open figure as out/figures/N.png, as there is no screen."""

import os

from matplotlib import _pylab_helpers
from matplotlib.backends.backend_agg import FigureCanvasAgg, FigureManagerBase

MAX_FIGURES = 200


class FigureCanvas(FigureCanvasAgg):
    """The canvas of Agg."""


class FigureManager(FigureManagerBase):
    """Saves figures instead of showing them."""

    @classmethod
    def pyplot_show(cls, *, block=None):
        """Save all open figures and close them, as a user would close their windows."""
        from matplotlib import pyplot

        folder = os.path.join(os.environ.get("OUTPUT_DIR", "out"), "figures")
        os.makedirs(folder, exist_ok=True)
        number = len(os.listdir(folder))
        for manager in _pylab_helpers.Gcf.get_all_fig_managers():
            number += 1
            if number > MAX_FIGURES:
                print(f"There are more than {MAX_FIGURES} figures; the others are not saved.")
                break
            path = os.path.join(folder, f"{number}.png")
            manager.canvas.figure.savefig(path)
            print(f"Saved the figure {os.path.relpath(path)}.")
        pyplot.close("all")


FigureCanvas.manager_class = FigureManager
show = FigureManager.pyplot_show
