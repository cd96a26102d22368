import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from openset.protocols.held_out import held_out_as_published, held_out_by_hash


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.sampled_from([0.1, 0.2, 0.5]))
def test_each_stratum_gives_its_share_and_keeps_something(strata, share):
    words = np.array([str(stratum) for stratum in strata])
    ids = np.array([f"id{number}" for number in range(len(strata))])
    held = held_out_by_hash(ids, words, share, "test")
    for stratum in set(strata):
        here = words == str(stratum)
        n = int(here.sum())
        assert held[here].sum() == (0 if n == 1 else max(1, round(share * n)))


def test_the_choice_depends_on_names_only():
    ids = np.array([f"photo {number}" for number in range(50)])
    strata = np.full(50, "a")
    held = set(ids[held_out_by_hash(ids, strata, 0.2, "test")])
    order = np.random.default_rng(0).permutation(50)
    assert set(ids[order][held_out_by_hash(ids[order], strata, 0.2, "test")]) == held
    assert set(ids[held_out_by_hash(ids, strata, 0.2, "validation")]) != held


def test_a_photo_added_later_moves_at_most_one_other():
    ids = np.array([f"photo {number}" for number in range(51)])
    before = set(ids[:50][held_out_by_hash(ids[:50], np.full(50, "a"), 0.2, "test")])
    after = set(ids[held_out_by_hash(ids, np.full(51, "a"), 0.2, "test")])
    assert len(before - after) <= 1


def test_the_published_share_out_is_that_of_the_authors_call():
    from sklearn.model_selection import train_test_split

    names = [f"{word}/{number}" for word in "abc" for number in range(25)]
    strata = [name[0] for name in names]
    _, expected = train_test_split(names, train_size=0.8, stratify=strata, random_state=42)
    held = held_out_as_published(np.array(strata), 0.2)
    assert set(np.array(names)[held]) == set(expected)
    assert [int(held[np.array(strata) == word].sum()) for word in "abc"] == [5, 5, 5]
