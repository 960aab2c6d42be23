"""The role image_text filled by a worker of the user's."""

from screentest.models.external.filling import fills
from screentest.models.external.roles import ExternalImageText

external = fills(ExternalImageText)
