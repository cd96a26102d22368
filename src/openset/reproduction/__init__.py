"""Every table and figure of the three papers, made again: ours beside the published ones."""

from openset.reproduction.catalog import ENTRIES as ENTRIES
from openset.reproduction.catalog import SCALES as SCALES
from openset.reproduction.catalog import Entry as Entry
from openset.reproduction.catalog import reproduce as reproduce
from openset.reproduction.options import Options as Options
