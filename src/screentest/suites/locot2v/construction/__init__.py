"""Making a prompt suite of one's own from real videos, by the paper's stages.

Every stage of every video is a small JSON file that a person may read and correct. What was
made is not made again; what was corrected is kept, and what depends on it is made anew.
"""
