"""Printed tables of the SLVMEval paper (arXiv 2603.29186), appendices A, F and H."""

from __future__ import annotations

from screentest.core import Aspect


def _rows(text: str) -> dict[str, list[float]]:
    """Rows of ``name: ten numbers``, aspects in the order of ``Aspect``."""
    lines = (line.partition(":") for line in text.strip().splitlines())
    return {name.strip(): [float(number) for number in row.split()] for name, _, row in lines}


# Table 3: pairs before filtering, left out for a C, left out for A ≤ B, final, retention in %.
TABLE_3: dict[str, tuple[int, int, int, int, float]] = {
    "aesthetics": (446, 92, 72, 282, 63.3),
    "technical_quality": (446, 243, 72, 131, 29.4),
    "appearance_style": (446, 112, 22, 312, 70.0),
    "background_consistency": (446, 75, 17, 354, 79.4),
    "temporal_flow": (444, 115, 44, 285, 64.2),
    "comprehensiveness": (430, 83, 112, 235, 54.7),
    "object_integrity": (375, 96, 179, 100, 26.7),
    "spatial_relationship": (435, 120, 79, 236, 54.3),
    "dynamics_degree": (444, 89, 22, 333, 75.0),
    "color": (327, 56, 67, 204, 62.4),
    "total": (4239, 1081, 686, 2472, 58.3),
}

# Pairs per aspect on which accuracies were taken: Table 3's final ones, but for technical
# quality 130 and not 131, since only k/130 rounds to the percentages that are printed.
PAIRS = {Aspect(name): row[3] for name, row in TABLE_3.items() if name != "total"}
PAIRS[Aspect.TECHNICAL_QUALITY] = 130

# Table 5: accuracy of CLIPScore in %, and what is printed behind ±.
TABLE_5 = _rows("""
IGNMAX: 48.9 76.2 62.8 70.9 71.0 66.2 55.3 51.1 60.2 56.1
EACHTRUNC: 54.3 72.3 66.0 76.6 75.0 68.1 55.0 60.4 56.4 54.4
""")
TABLE_5_MARGINS = _rows("""
IGNMAX: 5.8 7.3 5.4 4.7 8.9 6.5 5.3 6.4 6.2 5.8
EACHTRUNC: 5.8 7.7 5.3 4.4 8.5 6.4 5.3 6.3 6.3 5.8
""")

# Table 7: ρ between the number of one of 50 duration bins and its accuracy, by system.
TABLE_7 = _rows("""
video GPT-5: -0.6806 -0.4930 -0.1150 0.0487 0.0541 -0.1198 0.1446 -0.2200 -0.1216 -0.4927
video GPT-5-mini: -0.5422 -0.3558 -0.2473 -0.2874 -0.2409 -0.3055 -0.0402 -0.2239 -0.1750 -0.3623
video Qwen3: -0.1368 -0.0572 -0.0636 -0.2014 0.3848 -0.0683 0.1418 0.0200 -0.2934 0.1239
text GPT-5: -0.4650 -0.1872 -0.3206 -0.5072 -0.2892 -0.3270 0.1386 -0.3076 -0.0776 -0.4547
text GPT-5-mini: -0.4985 -0.2639 -0.3791 -0.6065 -0.2899 -0.3620 0.1504 -0.2847 -0.0541 -0.4107
text Qwen3: -0.0713 -0.2954 -0.4476 -0.6920 -0.1338 -0.5632 0.0020 -0.0061 -0.3756 -0.4559
CLIPScore: -0.2555 -0.0218 -0.2681 -0.4483 -0.2538 -0.7167 -0.0716 -0.2165 -0.1322 -0.1484
VideoScore: 0.1677 -0.0094 -0.4636 -0.2936 -0.3749 -0.4406 -0.2625 -0.4824 0.3212 -0.1139
Human: -0.3847 -0.3902 0.2202 0.2360 -0.1905 0.0158 -0.4254 -0.3855 -0.4621 0.0845
""")

# Table 8: their two-sided p-values, rounded to four decimals.
TABLE_8 = _rows("""
video GPT-5: 0.0000 0.0003 0.4263 0.7371 0.7090 0.4073 0.3164 0.1248 0.4002 0.0003
video GPT-5-mini: 0.0000 0.0112 0.0834 0.0430 0.0919 0.0310 0.7818 0.1181 0.2241 0.0097
video Qwen3: 0.3434 0.6934 0.6606 0.1607 0.0058 0.6373 0.3259 0.8902 0.0387 0.3915
text GPT-5: 0.0007 0.1929 0.0232 0.0002 0.0416 0.0205 0.3369 0.0298 0.5922 0.0009
text GPT-5-mini: 0.0002 0.0640 0.0066 0.0000 0.0411 0.0098 0.2970 0.0451 0.7090 0.0030
text Qwen3: 0.6226 0.0373 0.0011 0.0000 0.3542 0.0000 0.9889 0.9664 0.0072 0.0009
CLIPScore: 0.0733 0.8806 0.0598 0.0011 0.0753 0.0000 0.6213 0.1311 0.3601 0.3036
VideoScore: 0.2443 0.9484 0.0007 0.0385 0.0073 0.0014 0.0656 0.0004 0.0229 0.4311
Human: 0.0058 0.0051 0.1244 0.0990 0.1851 0.9132 0.0021 0.0057 0.0007 0.5595
""")
