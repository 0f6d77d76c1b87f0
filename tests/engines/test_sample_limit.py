"""How many samples the core admits."""

import pytest

from pathforest import _core

pytestmark = pytest.mark.kernel

MOST = 2**31 - 1024  # the steps of a loop over samples must end at a 32-bit index too


@pytest.mark.parametrize("count", [MOST + 1, 2**31 - 1, 2**31, 2**40])
def test_more_samples_than_indices_have_room_for_are_refused(count):
    with pytest.raises(ValueError, match=rf"{count} samples are more than the {MOST} .* take fewer"):
        _core.Engine.rows(count, "float64")
