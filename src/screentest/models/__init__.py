"""Models by role: protocols in ``roles``, one folder of backends per role."""

from screentest.models.choice import PROFILES, ModelChoice, Models, read_models
from screentest.models.roles import Backend, Detection, role

__all__ = ["PROFILES", "Backend", "Detection", "ModelChoice", "Models", "read_models", "role"]
