"""The faults that a seed stands for."""

from __future__ import annotations

from tests.cluster.network import cut_edges
from tests.cluster.nodes import last_message
from tests.cluster.schedule import ACTIVE, DRIVERS, POSTGRESQL, S3, schedule

LEASE_SECS, SECS = 5.0, 600.0
SEEDS = [str(number) for number in range(60)]


def drawn(seed: str, *, clocks: bool = True):
    return schedule(seed, SECS, 3, LEASE_SECS, clocks=clocks)


def test_equal_seeds_have_equal_faults_and_others_have_others():
    assert drawn("1") == drawn("1")
    assert drawn("1") != drawn("2")


def test_every_fault_has_ended_when_time_is_up():
    assert all(fault.at_secs + fault.for_secs <= SECS + 0.1 for seed in SEEDS for fault in drawn(seed))


def test_all_kinds_of_faults_are_drawn_and_clocks_only_where_they_can_be_set():
    with_clocks = {fault.what for seed in SEEDS for fault in drawn(seed)}
    assert with_clocks == {"cut", "cut-one-way", "isolate", "unplug", "slow", "pause", "kill", "clock", "fill"}
    assert {fault.what for seed in SEEDS for fault in drawn(seed, clocks=False)} == with_clocks - {"clock"}


def test_some_drivers_are_paused_for_longer_than_their_lease():
    pauses = [fault for seed in SEEDS for fault in drawn(seed) if fault.what == "pause"]
    longer = [one for one in pauses if one.for_secs > LEASE_SECS and one.target in {ACTIVE, *DRIVERS}]
    assert len(longer) > len(pauses) / 5


def test_an_equal_fault_does_not_begin_before_the_one_before_has_ended():
    for seed in SEEDS:
        until: dict[tuple[str, str], float] = {}
        for fault in drawn(seed):
            assert fault.at_secs > until.get((fault.what, fault.target), -1.0)
            until[fault.what, fault.target] = fault.at_secs + fault.for_secs


def test_what_is_in_the_memory_of_the_s3_server_is_never_killed_or_filled():
    assert not [one for seed in SEEDS for one in drawn(seed) if one.target == S3 and one.what in {"kill", "fill"}]
    assert [one for seed in SEEDS for one in drawn(seed) if one.target == POSTGRESQL and one.what == "kill"]


def test_a_cut_loses_packets_in_both_directions_and_one_way_in_one():
    hosts = ["a", "b", "c"]
    assert cut_edges(hosts, "cut", "a|b") == {("a", "b"), ("b", "a")}
    assert cut_edges(hosts, "cut-one-way", "a|b") == {("a", "b")}
    assert cut_edges(hosts, "isolate", "b") == {("b", "a"), ("a", "b"), ("b", "c"), ("c", "b")}


def test_the_last_message_of_a_job_is_its_error_and_not_the_stack_around_it():
    log = (
        "noise\n\tat some.java.Line\nerror: the lease is held; stop that one\nRun again with -v for the stack trace.\n"
    )
    assert last_message(log) == "error: the lease is held; stop that one Run again with -v for the stack trace."
    assert last_message("first\nlast\n\n") == "last"
    assert last_message("") == ""
