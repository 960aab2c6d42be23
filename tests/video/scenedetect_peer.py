"""Runs inside PySceneDetect's own environment: jobs as JSON on stdin, its cuts on stdout.

Each job is {"video": path, "detector": class name, "options": {…}}; each answer a list of
[frame number, seconds] with its version last.
"""

import json
import logging
import sys

import scenedetect
from scenedetect import SceneManager, detectors, open_video

logging.disable(logging.CRITICAL)


def cuts(job):
    options = dict(job["options"])
    if "weights" in options:
        options["weights"] = detectors.ContentDetector.Components(*options["weights"])
    if "filter_mode" in options:
        modes = __import__("scenedetect.detector", fromlist=["FlashFilter"]).FlashFilter.Mode
        options["filter_mode"] = modes[options["filter_mode"]]
    manager = SceneManager()
    manager.add_detector(getattr(detectors, job["detector"])(**options))
    manager.detect_scenes(open_video(job["video"]))
    scenes = manager.get_scene_list()
    return [[start.frame_num, start.seconds] for start, _ in scenes[1:]]


jobs = json.load(sys.stdin)
answers = [cuts(job) for job in jobs]
json.dump({"version": scenedetect.__version__, "cuts": answers}, sys.stdout)
