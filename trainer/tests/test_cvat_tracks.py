"""Tracks of CVAT: where objects are in each frame, which pictures are the frames, and what is not known."""

import numpy
import pytest

from trainer.core.input import Input
from trainer.errors import UserError
from trainer.kinds.annotated import cvat
from trainer.kinds.annotated.shapes import LeftOut
from trainer.tests.zoo.videos import box


def polygon(frame, points, outside=0):
    return f'<polygon frame="{frame}" keyframe="1" outside="{outside}" points="{points}"/>'


def read(tmp_path, *tracks, numbers=range(6), name="frame_{:06d}.png", meta="<size>6</size>", file="annotations.xml"):
    """The frames of a file with these tracks, by their names, and what was left out and changed."""
    found = "".join(f'<track id="{i}" label="bird">{shapes}</track>' for i, shapes in enumerate(tracks))
    path = tmp_path / "annotations.xml"
    path.write_text(f"<annotations><meta><task>{meta}</task></meta>{found}</annotations>")
    images = [Input(name.format(n), tmp_path / "none", 1, "") for n in numbers]
    left, changed = LeftOut(), LeftOut()
    listed, _ = cvat.read(Input(file, path, path.stat().st_size, ""), images, left, changed)
    return {one.names[0]: one for one in listed}, left, changed


def lefts(frames):
    """The left side of the only box of each frame, None without one."""
    return [one.drawn[0].box[0] if one.drawn else None for one in frames.values()]


def test_boxes_move_evenly_between_keyframes_and_stay_until_the_end(tmp_path):
    frames, _, _ = read(tmp_path, box(1, 2) + box(3, 6))
    assert lefts(frames) == [None, 2, 4, 6, 6, 6] and next(iter(frames)) == "frame_000000.png"


def test_an_object_that_is_outside_is_not_there_until_its_next_keyframe(tmp_path):
    frames, _, _ = read(tmp_path, box(0, 2) + box(2, 9, outside=1) + box(4, 6))
    assert lefts(frames) == [2, 2, None, None, 6, 6]


def test_a_file_that_lists_all_frames_ends_an_object_where_it_ends(tmp_path):
    frames, _, _ = read(tmp_path, box(0, 2) + box(1, 3, keyframe=0) + box(2, 4))
    assert lefts(frames) == [2, 3, 4, None, None, None]


def test_outlines_whose_points_match_move_evenly_between_keyframes(tmp_path):
    here, there = "1,1;5,1;5,5", "4,1;8,1;8,8"
    frames, left, _ = read(tmp_path, polygon(0, here) + polygon(3, there) + polygon(5, there, outside=1))
    rings = [one.drawn[0].rings[0].tolist() if one.drawn else None for one in frames.values()]
    assert rings[1] == [[2, 1], [6, 1], [6, 6]] and rings[3] == rings[4] == [[4, 1], [8, 1], [8, 8]] and rings[5] is None
    assert not left.counts and {d.label for one in frames.values() for d in one.drawn} == {"bird"}


@pytest.mark.parametrize(
    "there",
    [
        pytest.param("2,2;6,2;6,6;2,6", id="another number of points"),
        pytest.param("3,3;3,3;3,3", id="no length"),
        pytest.param("3,3;x,3;3,3", id="no numbers"),
    ],
)
def test_frames_between_keyframes_of_other_outlines_are_left_out_and_counted(tmp_path, there):
    frames, left, _ = read(tmp_path, polygon(0, "1,1;5,1;5,5") + polygon(3, there) + polygon(4, "1,1;5,1;5,5", outside=1))
    assert not {"frame_000001.png", "frame_000002.png"} & set(frames) and "frame_000005.png" in frames
    assert max(left.counts.values()) >= 2


def test_turned_boxes_and_ellipses_turn_the_shorter_way(tmp_path):
    turned = [box(0).replace("<box", '<box rotation="350"') + box(2).replace("<box", '<box rotation="10"')]
    ellipse = '<ellipse frame="{}" cx="{}" cy="6" rx="4" ry="2" rotation="{}" outside="0"/>'
    frames, _, _ = read(tmp_path, *turned, ellipse.format(0, 6, 0) + ellipse.format(2, 10, 180))
    straight, oval = frames["frame_000001.png"].drawn
    assert straight.box == (2, 3, 8, 12)
    middle, reach = oval.rings[0].mean(axis=0), numpy.ptp(oval.rings[0], axis=0)
    assert middle == pytest.approx([8, 6]) and reach == pytest.approx([4, 8], abs=0.1), "a quarter turn: as high as it was wide"


def test_frames_have_the_numbers_of_the_video(tmp_path):
    meta = "<size>3</size><start_frame>10</start_frame><frame_filter>step=5</frame_filter>"
    frames, _, _ = read(tmp_path, box(10, 2) + box(20, 6), numbers=range(8, 26), meta=meta, name="v/{}.png")
    assert list(frames) == ["v/10.png", "v/15.png", "v/20.png"] and lefts(frames) == [2, 4, 6]


def test_of_two_videos_the_folder_tells_the_frames(tmp_path):
    images = [Input(f"{video}/frame_{n:06d}.png", tmp_path / "none", 1, "") for video in ("day", "night") for n in range(6)]
    path = tmp_path / "annotations.xml"
    path.write_text(f'<annotations><track label="bird">{box(0)}</track></annotations>')
    listed, _ = cvat.read(Input("said/night.xml", path, 1, ""), images, LeftOut(), LeftOut())
    assert {one.names[0].split("/")[0] for one in listed} == {"night"}
    with pytest.raises(UserError, match="may be the same frame"):
        cvat.read(Input("said/annotations.xml", path, 1, ""), images, LeftOut(), LeftOut())


def test_frames_that_lack_are_counted(tmp_path):
    frames, left, _ = read(tmp_path, box(0) + box(3), polygon(1, "1,1;5,1;5,5"), "<points/>", numbers=(0, 2))
    assert lefts(frames) == [2, 2] and sum(left.counts.values()) == 2 + 1, left.counts


def test_pictures_from_1_on_are_frames_only_where_all_are_there(tmp_path):
    frames, _, changed = read(tmp_path, box(0, 2) + box(1, 4, outside=1), numbers=range(1, 7))
    assert lefts(frames) == [2, None, None, None, None, None] and next(iter(frames)) == "frame_000001.png" and changed.counts
    with pytest.raises(UserError) as e:
        read(tmp_path, box(0), numbers=range(1, 6))
    assert e.value.code == "frames_unclear"


@pytest.mark.parametrize("frame", ["-1", "x", "99999999999", "1e3", "²"])
def test_frames_that_are_no_numbers_are_not_read(tmp_path, frame):
    frames, _, _ = read(tmp_path, box(0, 2).replace('frame="0"', f'frame="{frame}"'), box(5, 7))
    assert lefts(frames) == [None] * 5 + [7]
