"""A network of hosts on this machine: one namespace for each, joined by a bridge in the namespace of whoever runs this.

No packet can leave: the outer namespace has no other link than the bridge. Hosts know each other's hardware addresses by
heart, so a host is cut off from another one, in one direction, when it is given a wrong one. Its packets are then lost on
the bridge without a word, as on a network that is broken somewhere.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

CLIENT = "client"
"""The outer namespace, where the producer and the readers live."""
BRIDGE = "br0"
NETNS = Path("/run/netns")
NOBODY = "02:ff:ff:ff:ff:ff"

# A slow link: what a modem had, with a buffer in front of it that makes packets wait.
SLOW = ("rate", "256kbit", "burst", "8kb", "latency", "4s")

Edge = tuple[str, str]


def cut_edges(hosts: Iterable[str], what: str, target: str) -> frozenset[Edge]:
    """Return the directions in which packets are lost. Pure.

    Args:
        hosts: all there are.
        what: `cut` (two hosts, both directions), `cut-one-way` or `isolate` (one host from all others).
        target: `a|b` or a host.
    """
    if what == "isolate":
        others = [one for one in hosts if one != target]
        return frozenset((target, one) for one in others) | frozenset((one, target) for one in others)
    sender, receiver = target.split("|")
    there = frozenset({(sender, receiver)})
    return there if what == "cut-one-way" else there | {(receiver, sender)}


class Network:
    """The hosts of a run. Everything ends with the namespaces, that is with the process that made the outer one.

    Args:
        hosts: names; `CLIENT` is added.
    """

    def __init__(self, hosts: Sequence[str]) -> None:
        self.hosts = (CLIENT, *hosts)
        self._number = {name: number for number, name in enumerate(self.hosts, start=1)}
        self._cuts: Counter[Edge] = Counter()

    def address(self, host: str) -> str:
        return f"10.77.0.{self._number[host]}"

    def make(self, folder: Path) -> None:
        """Make namespaces, links and the bridge; a folder takes the file of the hosts' names."""
        names = folder / "hosts"
        names.write_text("127.0.0.1 localhost\n" + "".join(f"{self.address(one)} {one}\n" for one in self.hosts))
        _run("mount", "--bind", str(names), "/etc/hosts")
        NETNS.mkdir(parents=True, exist_ok=True)
        _run("mount", "-t", "tmpfs", "none", str(NETNS))
        _ip("link", "set", "lo", "up")
        _ip("link", "add", BRIDGE, "address", self._hardware(CLIENT), "type", "bridge")
        _ip("addr", "add", f"{self.address(CLIENT)}/24", "dev", BRIDGE)
        _ip("link", "set", BRIDGE, "up")
        for host in self.hosts[1:]:
            outer = f"v{self._number[host]}"
            _ip("netns", "add", host)
            _ip("link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", host)
            _ip("link", "set", outer, "master", BRIDGE, "up")
            _ip("-n", host, "addr", "add", f"{self.address(host)}/24", "dev", "eth0")
            _ip("-n", host, "link", "set", "lo", "up")
            _ip("-n", host, "link", "set", "eth0", "address", self._hardware(host), "up")
        for host in self.hosts:
            self._tell(host)

    def inside(self, host: str, command: Sequence[str | Path]) -> list[str]:
        """Return the command that runs another one on a host, under that host's name, in the same process."""
        named = ["unshare", "--uts", "sh", "-c", f'hostname {host} && exec "$@"', "sh"]
        return ["ip", "netns", "exec", host, *named, *map(str, command)]

    def cut(self, edges: Iterable[Edge]) -> None:
        """Lose all packets in these directions, once more than now."""
        self._cuts.update(edges)
        self._tell_all()

    def mend(self, edges: Iterable[Edge]) -> None:
        self._cuts.subtract(edges)
        self._tell_all()

    def unplug(self, host: str) -> None:
        """Take the link of a host down: its programs are told that there is no network."""
        _ip("-n", host, "link", "set", "eth0", "down")

    def plug(self, host: str) -> None:
        _ip("-n", host, "link", "set", "eth0", "up")
        self._tell(host)  # what a host knew of others is gone with its link

    def slow(self, host: str) -> None:
        """Give a host a slow way out."""
        _run("ip", "netns", "exec", host, "tc", "qdisc", "replace", "dev", "eth0", "root", "tbf", *SLOW)

    def fast(self, host: str) -> None:
        _run("ip", "netns", "exec", host, "tc", "qdisc", "del", "dev", "eth0", "root")

    def _tell_all(self) -> None:
        for host in self.hosts:
            self._tell(host)

    def _tell(self, host: str) -> None:
        """Tell a host where the others are, or where nobody is."""
        others = [one for one in self.hosts if one != host]
        device = BRIDGE if host == CLIENT else "eth0"
        lines = [
            f"neigh replace {self.address(one)} lladdr {NOBODY if self._cuts[host, one] > 0 else self._hardware(one)} "
            f"dev {device} nud permanent"
            for one in others
        ]
        where = [] if host == CLIENT else ["-n", host]
        # A host without a link takes no addresses; `plug` tells them again.
        subprocess.run(
            ["ip", *where, "-force", "-batch", "-"], input="\n".join(lines), text=True, check=False, capture_output=True
        )

    def _hardware(self, host: str) -> str:
        return f"02:00:00:00:00:{self._number[host]:02x}"


def _ip(*arguments: str) -> None:
    _run("ip", *arguments)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)
