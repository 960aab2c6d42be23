"""Models by role: protocols in ``roles``, one folder of backends per role."""

from screentest.models.choice import PROFILES, Choice, Models, read_models
from screentest.models.roles import Backend, Detection, role

__all__ = ["PROFILES", "Backend", "Choice", "Detection", "Models", "read_models", "role"]
