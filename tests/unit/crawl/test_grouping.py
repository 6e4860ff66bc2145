"""Laws of grouping: no folder is lost or counted twice, and names follow from places."""

from collections import Counter

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from gluepot.crawl.grouping import MOST_FILES_AS_TABLES, GroupRules, group
from gluepot.crawl.values import UNKNOWN, FileKind, Leaf, Tally

USERS = pa.schema([("id", pa.int64()), ("name", pa.string()), ("at", pa.date32())])
SALES = pa.schema([("id", pa.int64()), ("total", pa.float64())])
KINDS = (
    FileKind("csv", schema=USERS, format="csv", basics=(("delimiter", ","),)),
    FileKind("csv", schema=SALES, format="csv", basics=(("delimiter", ","),)),
    FileKind("json", "gzip", SALES, "json"),
    FileKind(UNKNOWN),
)
NAMES = st.sampled_from(["a", "b", "day=1", "day=2", "Day=3", "x y"])
FOLDERS = st.lists(NAMES, max_size=3).map("/".join)
FILES = st.dictionaries(st.sampled_from(KINDS), st.integers(1, 3), min_size=1, max_size=2)
TREES = st.dictionaries(FOLDERS, FILES, max_size=8)
RULES = st.builds(GroupRules, combine=st.booleans(), table_level=st.none() | st.integers(1, 4))


def leaves_of(tree):
    for folder, files in tree.items():
        leaf = Leaf(folder, sum(files.values()), 10 * sum(files.values()))
        for at, (kind, number) in enumerate(files.items()):
            leaf.kinds[kind] = Tally(number, 10 * number, 1, 10, [(f"{at}-{n}", 10) for n in range(number)])
        yield leaf


@given(TREES, RULES)
def test_every_folder_with_known_files_is_in_one_table_or_its_files_are(tree, rules):
    found = group("/lake", leaves_of(tree), (), rules)
    in_folders = Counter(part.folder for table in found.tables if not table.file for part in table.parts)
    files = Counter((table.folder, table.file) for table in found.tables if table.file)
    assert max(in_folders.values(), default=0) <= 1
    assert max(files.values(), default=0) <= 1
    for folder, of in tree.items():
        known = [kind for kind in of if kind.is_known]
        if known:
            assert in_folders[folder] + any(place == folder for place, _ in files) == 1


@given(TREES, RULES)
def test_partitions_have_a_value_for_each_key_and_lie_below_their_table(tree, rules):
    for table in group("/lake", leaves_of(tree), (), rules).tables:
        assert len(set(table.keys)) == len(table.keys)
        for part in table.parts:
            assert len(part.values) == len(table.keys)
            assert table.file or table.location_of(part).startswith(table.location)
            inside = part.folder[len(table.folder) :].strip("/")
            assert table.file or len(inside.split("/") if inside else []) == len(table.keys)


@given(TREES, RULES, st.randoms())
def test_the_order_of_a_listing_does_not_matter(tree, rules, chance):
    mixed = list(tree.items())
    chance.shuffle(mixed)

    def told(of):
        tables = group("/lake", leaves_of(dict(of)), (), rules).tables
        return sorted((one.location, one.keys, one.kind.classification, len(one.parts)) for one in tables)

    assert told(tree.items()) == told(mixed)


@given(TREES)
def test_a_lake_table_is_never_swallowed(tree):
    tables = group("/lake", leaves_of(tree), {"a"}, GroupRules(combine=True)).tables
    assert not any(table.folder == "" and not table.file and table.keys for table in tables)


def test_a_large_folder_of_unlike_files_is_left_out_and_told():
    leaf = Leaf("", MOST_FILES_AS_TABLES + 1, 10)
    leaf.kinds = {KINDS[0]: Tally(100, 5, 1, 5, [("x", 5)]), KINDS[2]: Tally(1, 5, 1, 5, [("y", 5)])}
    found = group("/lake", [leaf], (), GroupRules())
    assert found.tables == []
    [step] = found.steps
    assert step.outcome == "left out; separate the files, or exclude some"
