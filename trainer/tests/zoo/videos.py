"""Rows about annotations of videos, whose frames are pictures."""

from trainer.tests.zoo.annotations import DETECTION, KIND
from trainer.tests.zoo.pictures import noise, png
from trainer.tests.zoo.row import Reads, Refused, Row, write

FRAMES = 36
RULE = "tracks of videos"


def box(frame: int, left: float = 2, outside: int = 0, keyframe: int = 1) -> str:
    place = f'xtl="{left}" ytl="3" xbr="{left + 6}" ybr="12"'
    return f'<box frame="{frame}" keyframe="{keyframe}" outside="{outside}" occluded="0" {place} z_order="0"/>'


def tracks(*listed: str, label: str = "bird", task: str = "") -> str:
    """A file of CVAT for videos with a track of each of ``listed``."""
    size = f"<original_size><width>24</width><height>24</height></original_size><size>{FRAMES}</size>"
    found = "".join(f'<track id="{i}" label="{label}"{task and f""" task_id="{i}" """}>{shapes}</track>' for i, shapes in enumerate(listed))
    return f"<annotations><version>1.1</version><meta><task>{size}<source>birds.mp4</source></task></meta>{found}</annotations>"


MOVING = (box(0) + box(30, 14) + box(33, 14, outside=1), box(5, 8) + box(20, 8, outside=1))


def _video(folder, name="frame_{:06d}.png", first=0, number=FRAMES, task=""):
    for i in range(number):
        write(folder, f"images/{name.format(first + i)}", png(noise(i)))
    write(folder, "annotations.xml", tracks(*MOVING, task=task))


ROWS = (
    Row("cvat-video", "annotations.xml of CVAT for videos, and frame_000000.png, …", "wildlife cameras", "docs.cvat.ai",
        "boxes between keyframes too, and neighbouring frames kept together", _video,
        Reads(DETECTION, KIND, rows=FRAMES, classes=("bird",), says={"groups": "12 parts of neighbouring frames"}), rule=RULE),
    Row("cvat-video-from-1", "the same with 36 pictures, numbered from 1", "users of ffmpeg", "ffmpeg.org", "said, and read",
        lambda f: _video(f, "birds {}.png", 1), Reads(DETECTION, KIND, rows=FRAMES, says={"annotations_repaired": "numbered from 1"})),
    Row("cvat-video-of-some-frames", "the same with the pictures 1 to 20", "users of ffmpeg", "ffmpeg.org", "which frame the first one is",
        lambda f: _video(f, "birds {}.png", 1, 20), Refused("frames_unclear", ("frame_000000.png",))),
    Row("cvat-video-of-few-frames", "the same with the pictures 0 to 19", "users of ffmpeg", "ffmpeg.org", "that the metrics are too good",
        lambda f: _video(f, number=20), Reads(DETECTION, KIND, rows=20, says={"time_neighbours": "the metrics are better than for other videos"})),
    Row("cvat-two-videos", "one file with the tracks of two videos", "exports of projects", "docs.cvat.ai", "how to export them",
        lambda f: _video(f, task="1"), Refused("annotations", ("each task on its own",))),
    Row("cvat-video-without-frames", "pictures whose names have no numbers", "beginners", "user reports", "what to call them",
        lambda f: _video(f, "{0:b}x.png"), Refused("pictures_missing", ("frame_000000.png",)), spares=RULE),
)  # fmt: skip
