"""Rows about annotations in tables: boxes, regions and run lengths, and tables of classes beside them."""

import random

from trainer.tests.zoo.annotations import CLASSES, CODE, COUNT, NATURAL, REFUSED, TRAINED, objects, pictures
from trainer.tests.zoo.pictures import noise, png
from trainer.tests.zoo.row import Reads, Refused, Row, write


def _via_csv(folder):
    names = pictures(folder)
    head = "filename,file_size,file_attributes,region_count,region_id,region_shape_attributes,region_attributes"
    shape = '"{""name"":""rect"",""x"":1,""y"":2,""width"":3,""height"":4}"'
    lines = [f'{n},800,"{{}}",1,0,{shape},"{{""class"":""{CLASSES[i % 2]}""}}"' for i, n in enumerate(names)]
    write(folder, "via_export.csv", "\n".join([head, *lines]) + "\n")


def _boxes(folder, header="image,xmin,ymin,xmax,ymax,class"):
    names = pictures(folder, "images/")
    lines = [f"{n.rpartition('/')[2]},{i},{i + 1},{i + 9},{i + 8},{CLASSES[i % 2]}" for i, n in enumerate(names) for _ in range(3)]
    write(folder, "annotations.csv", "\n".join([header, *lines] if header else lines) + "\n")


def _boxes_without_header(folder):
    _boxes(folder, header="")


def _wheat(folder):
    names = pictures(folder)
    lines = [f'{n},24,24,"[{14 + k}.0, 12.0, 6.0, 8.0]",usask' for n in names for k in range(3)]
    write(folder, "train.csv", "\n".join(["image_id,width,height,bbox,source", *lines]) + "\n")


def _run_lengths(folder):
    names = pictures(folder)
    lines = [f"{n},{i % 3},{' '.join(str(10 * k + 1) + ' 5' for k in range(6))}" for i, n in enumerate(names)]
    write(folder, "train.csv", "\n".join(["ImageId,ClassId,EncodedPixels", *lines]) + "\n")


def _signs(folder):
    lines = ["Width,Height,Roi.X1,Roi.Y1,Roi.X2,Roi.Y2,ClassId,Path"]
    for i in range(2 * COUNT):
        write(folder, f"Train/{i:03}.png", png(noise(i, high=120 + 100 * (i % 2))))
        lines.append(f"24,24,{i % 5},{i % 4},{20 + i % 3},{19 + i % 4},{'stop' if i % 2 else 'yield'},Train/{i:03}.png")
    write(folder, "Train.csv", "\n".join(lines) + "\n")


def _boxes_alone(folder):
    chance = random.Random(3)
    lines = ["xmin,ymin,xmax,ymax,material"]
    for i in range(60):
        far = (chance.randint(10, 30), chance.randint(10, 30))
        lines.append(f"{chance.randint(0, 9) + 9 * (i % 2)},{chance.randint(0, 9)},{far[0]},{far[1]},{'clay' if i % 2 else 'sand'}")
    write(folder, "layers.csv", "\n".join(lines) + "\n")


ROWS = (
    Row("via-csv", "the CSV of VIA", "labs", "robots.ox.ac.uk/~vgg/software/via", TRAINED, _via_csv, objects(classes=NATURAL), rule="VIA"),
    Row("boxes-in-csv", "a CSV with xmin, ymin, xmax, ymax and several rows for each picture", "detection", "user reports", TRAINED, _boxes,
        objects(classes=NATURAL), rule="boxes in a table"),
    Row("boxes-without-header", "path,x1,y1,x2,y2,class without a header", "detection", "github.com/fizyr/keras-retinanet", TRAINED,
        _boxes_without_header, objects(classes=NATURAL), rule="boxes in a table"),
    Row("boxes-as-list", "a column bbox with four numbers", "wheat heads", "kaggle.com/c/global-wheat-detection", TRAINED, _wheat,
        objects(classes=("object",)), rule="boxes in a table"),
    Row("run-lengths", "a CSV with EncodedPixels", "steel, ships", "kaggle.com/c/severstal-steel-defect-detection", REFUSED, _run_lengths,
        Refused(CODE, ("run lengths",))),
    Row("crops-with-class", "one row for each picture with its crop and a class", "traffic signs", "benchmark.ini.rub.de (GTSRB)", "a classifier",
        _signs, Reads("image-classification", classes=("stop", "yield"), label="ClassId"), spares="boxes in a table"),
    Row("boxes-without-pictures", "xmin to ymax are measures of something else", "geology", "user reports", "a table", _boxes_alone,
        Reads("tabular-classification", classes=("clay", "sand")), spares="boxes in a table"),
)  # fmt: skip
