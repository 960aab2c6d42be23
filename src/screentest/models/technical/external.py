"""The role technical filled by a worker of the user's."""

from screentest.models.external.filling import fills
from screentest.models.external.roles import ExternalTechnical

external = fills(ExternalTechnical)
