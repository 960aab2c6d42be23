"""Models by role: protocols in ``roles``, one folder of backends per role."""

from screentest.models.choice import Choice, Models, read_profile
from screentest.models.roles import Backend, Detection, Role

__all__ = ["Backend", "Choice", "Detection", "Models", "Role", "read_profile"]
