"""Backends of the role ``faces``: YuNet finds them, SFace tells whose they are."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from screentest.core import Image, register
from screentest.models import weights
from screentest.models.pictures import check_picture, opencv_identity
from screentest.models.roles import Vectors

FACES = "faces"
_SFACE = "face_recognition_sface_2021dec.onnx"
_WIDTH = 128


@register(
    "faces",
    "sface",
    summary="faces by YuNet, whose they are by SFace: 128 numbers per face",
    weights=(FACES,),
)
class SFace:
    """Faces as vectors that are near where they are of one person.

    Photographs of one person have a cosine above 0.363, by SFace's authors. Faces that are drawn,
    small or seen from the side are often not found. ``score`` is the least that counts as a face,
    ``smallest`` its height in pixels.
    """

    def __init__(self, *, score: float = 0.8, smallest: int = 24) -> None:
        import cv2

        # It warns that its new engine has one target only.
        cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_ERROR)
        finder, reader = weights.path(FACES), weights.path(FACES, _SFACE)
        self._finder = cv2.FaceDetectorYN.create(str(finder), "", (320, 320), score)
        self._reader = cv2.FaceRecognizerSF.create(str(reader), "")
        self._using = threading.Lock()
        self._smallest = smallest
        self.identity = {"weights": weights.digest(FACES), **opencv_identity()}

    def identities(self, images: Sequence[Image]) -> list[Vectors]:
        with self._using:
            return [self._read(check_picture(image)) for image in images]

    def _read(self, image: Image) -> Vectors:
        height, width = image.shape[:2]
        picture = np.ascontiguousarray(image[..., ::-1])
        self._finder.setInputSize((width, height))
        found: Any = self._finder.detect(picture)[1]  # None where there are none
        faces = [face for face in (() if found is None else found) if face[3] >= self._smallest]
        faces.sort(key=lambda face: -face[2] * face[3])
        rows = [self._reader.feature(self._reader.alignCrop(picture, face)) for face in faces]
        vectors = np.array(rows, np.float32).reshape(-1, _WIDTH)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)
