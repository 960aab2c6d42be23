"""Certificates: what testbeds say about an evaluator.

Called, it makes them: see :func:`screentest.api.certify`.
"""

from screentest.base.jobs import is_also_a_job as _is_also_a_job

_is_also_a_job(__name__)
