"""Polygons in files over scenes: which scenes they meet, in which reference system, and which attribute is their class."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy

from trainer.core.input import Input
from trainer.data import names
from trainer.data.checks import Checks
from trainer.data.scenes.opening import Scene
from trainer.data.vectors import reading
from trainer.data.vectors.layer import Layer
from trainer.errors import UserError, count, left_out, some
from trainer.kinds.pixels.codings import MOST
from trainer.kinds.pixels.scenes import outlines
from trainer.kinds.pixels.scenes.outlines import Outlined

_AREA = re.compile(r"(^|[^a-z])(aoi|extent|footprint|boundary|study.?area|area.?of.?interest|labell?ed.?area)([^a-z]|$)")
_CLASS = ("class", "class_name", "classname", "label", "labels", "category", "type", "species", "name", "kind", "code", "class_id", "object_name")
_MOSTLY = 0.9  # of the polygons that have an attribute
_ONE = "object"  # the class of polygons without an attribute that tells classes apart
GROUND = "background"


@dataclass(frozen=True)
class Mapped:
    """Scenes with their polygons, and the classes: the first one is the ground between them."""

    scenes: list[tuple[Input, Outlined]]
    labels: tuple[str, ...]


def layers(sources: list[Input], every: list[Input]) -> tuple[list[Layer], list[tuple[str, str]]]:
    """The layers of all files, and which files cannot be read, with the reason."""
    found: list[Layer] = []
    damaged = []
    for source in sources:
        try:
            found += reading.read(source, every)
        except (OSError, ValueError) as e:
            damaged.append((source.name, str(e)))
    return found, damaged


def over(scenes: list[tuple[Input, Scene]], found: list[Layer], asked: str, checks: Checks) -> Mapped:
    """The polygons of layers over the scenes that they meet. ``asked`` is the attribute that the user named. Raises UserError."""
    areas = [layer for layer in found if _AREA.search(names.stem(layer.name) if "." in layer.name else layer.name.lower())]
    labels = [layer for layer in found if layer not in areas and layer.shapes]
    if not labels:
        raise UserError("no_polygons", f"No polygons are left in {some([x.name for x in found], 3)}: {_reasons(found)}.", "Add polygons.")
    attribute = _attribute(labels, asked)
    classes = _classes(labels, attribute)
    _tell(found, attribute, classes, checks)
    made = []
    for source, scene in scenes:
        shapes, values = [], []
        for layer in labels:
            moved = _in_plane(layer, scene, source.name)
            shapes += list(moved)
            values += [1 + classes.index(_class(p, attribute)) for p in layer.properties]
        meets = _meeting(numpy.asarray(shapes, object), scene)
        if not meets.any():
            continue
        mine = numpy.asarray(shapes, object)[meets]
        area = [s for layer in areas for s in _in_plane(layer, scene, source.name)]
        ground, said = outlines.footprint(mine, area, scene)
        made.append((source, Outlined(scene, mine, numpy.asarray(values)[meets], ground, said)))
    if not made:
        raise _apart(scenes, labels)
    _tell_of_ground(made, checks)
    return Mapped(made, (GROUND, *classes))


def _attribute(found: list[Layer], asked: str) -> str:
    """The attribute whose values are classes; empty where there is none. Raises UserError where several are as likely."""
    rows = [p for layer in found for p in layer.properties]
    if asked:
        if not any(asked in p for p in rows):
            raise UserError(
                "unknown_column", f"No polygon has the attribute {asked}.", "Set label_column to one of the attributes.",
                f"They are {some(sorted({n for p in rows for n in p}), 12)}.",
            )  # fmt: skip
        return asked
    fit = []
    for name in dict.fromkeys(n for p in rows for n in p):
        values = [p[name] for p in rows if p.get(name) is not None]
        different = len(set(map(str, values)))
        if (
            len(values) >= _MOSTLY * len(rows)
            and 2 <= different < MOST
            and 2 * different <= len(values)
            and not any(isinstance(v, float) for v in values)
        ):
            fit.append(name)
    named = [n for n in _CLASS for f in fit if f.lower() == n for n in (f,)]
    if not fit:  # all are of one class, which may have a name
        return next((n for c in _CLASS for p in rows[:1] for n in p if n.lower() == c and isinstance(p[n], str) and _is_one(rows, n)), "")
    if named or len(fit) < 2:
        return (named or fit)[0]
    raise UserError("which_column", f"Several attributes of the polygons may be their class: {some(fit, 6)}.", "Set label_column to one of them.")


def _is_one(rows: list[dict[str, Any]], name: str) -> bool:
    return len({str(p.get(name)) for p in rows}) == 1


def _class(properties: dict[str, Any], attribute: str) -> str:
    value = properties.get(attribute) if attribute else _ONE
    return "unnamed" if value is None or not str(value).strip() else str(value).strip()


def _classes(found: list[Layer], attribute: str) -> list[str]:
    classes = sorted({_class(p, attribute) for layer in found for p in layer.properties}, key=names.natural)
    if len(classes) >= MOST:
        raise UserError(
            "mask_values", f"The attribute {attribute} has {len(classes)} values, which are too many for classes: at most {MOST - 1}.",
            "Set label_column to an attribute with fewer values.",
        )  # fmt: skip
    return classes


def _in_plane(layer: Layer, scene: Scene, name: str) -> numpy.ndarray:
    """The shapes of a layer in the plane of a scene. Raises UserError where the file names no reference system and does not meet the scene."""
    import rasterio.crs
    import shapely
    from rasterio import warp

    shapes = numpy.asarray(layer.shapes, object)
    if not layer.crs:
        if not _meeting(shapes, scene).any():
            raise UserError(
                "no_reference_system", f"{layer.name} names no reference system, and its polygons do not meet the scene {name}.",
                "Add the file .prj of a shapefile, or save the polygons in the reference system of the scene.",
            )  # fmt: skip
        return shapes
    try:
        of_layer = rasterio.crs.CRS.from_user_input(layer.crs)
        of_scene = rasterio.crs.CRS.from_wkt(scene.crs)
    except rasterio.errors.CRSError as e:
        raise UserError("no_reference_system", f"The reference system of {layer.name} is not known.", "Save it with one of EPSG.", f"{e}.") from e
    if of_layer == of_scene:
        return shapes

    def moved(places: numpy.ndarray) -> numpy.ndarray:
        return numpy.column_stack(warp.transform(of_layer, of_scene, places[:, 0], places[:, 1])) if len(places) else places

    found = shapely.transform(shapes, moved)
    return numpy.asarray([s if s.is_valid else shapely.make_valid(s) for s in found], object)


def _meeting(shapes: numpy.ndarray, scene: Scene) -> numpy.ndarray:
    import shapely

    finite = numpy.isfinite(shapely.bounds(shapes)).all(axis=1)
    ground = outlines.bounds(scene)
    return finite & numpy.asarray([bool(f) and g.intersects(ground) for f, g in zip(finite, shapes)], bool)


def _apart(scenes: list[tuple[Input, Scene]], found: list[Layer]) -> UserError:
    import shapely

    source, scene = scenes[0]
    own = some([f"{n:.6g}" for n in outlines.bounds(scene).bounds])
    theirs = some([f"{n:.6g}" for n in shapely.total_bounds(numpy.asarray(found[0].shapes, object))])
    return UserError(
        "no_overlap", f"The polygons of {some([x.name for x in found], 3)} meet no scene.", "Add the scenes that they were drawn on.",
        f"{found[0].name} goes over {theirs} in {found[0].crs[:60] or 'an unknown system'}, {source.name} over {own} in its own system.",
    )  # fmt: skip


def _reasons(found: list[Layer]) -> str:
    total: Counter = sum((layer.left_out for layer in found), Counter())
    return some([f"{number} because {reason}" for reason, number in total.most_common()], 5)


def _tell(found: list[Layer], attribute: str, classes: list[str], checks: Checks) -> None:
    number = sum(len(layer.shapes) for layer in found)
    which = f"the attribute {attribute} is the class" if attribute else "no attribute tells classes apart, so there is one"
    checks.events.decision("polygons", number, f"{count(number, 'polygon')} of {some([x.name for x in found], 3)}: {which} ({some(classes, 8)}).")
    total: Counter = sum((layer.left_out for layer in found), Counter())
    if total:
        checks.warning("shapes_left_out", f"{left_out(total.total(), 'shape')}: {_reasons(found)}.")
    if nameless := [layer.name for layer in found if not layer.crs]:
        checks.warning(
            "no_reference_system",
            f"{some(nameless, 3)} names no reference system, so its coordinates are taken for those of the scenes, which they meet. Add the file "
            ".prj of a shapefile if the polygons lie elsewhere.",
        )
    if repaired := sum(layer.repaired for layer in found):
        checks.warning("shapes_repaired", f"{count(repaired, 'polygon')} crossed themselves, and were repaired.")


def _tell_of_ground(made: list[tuple[Input, Outlined]], checks: Checks) -> None:
    for source, outlined in made[:5]:
        share = outlined.footprint.area / outlines.bounds(outlined.scene).area
        text = f"{share:.0%} of {source.name} is labelled: {outlined.said}. What lies outside is unknown, and neither learnt nor measured."
        checks.events.decision("labelled_area", round(share, 4), text)
