"""What all tests share."""

import os

from hypothesis import settings

# No deadline: a busy machine is not a defect. In automated runs the same examples each time, so that a change is judged
# by what it changes; on a developer's machine new ones.
settings.register_profile("openset", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("openset")
