"""The plot of a recorded run."""

from xml.etree import ElementTree as ET

from benchmarks.autoscaling.recorded import plot
from gluepot.streaming.advisor.history import Observation


def test_each_batch_is_a_point_and_a_batch_as_long_as_its_window_is_one():
    batches = [Observation(1000 + 5 * n, 5.0 if n == 2 else 2.5, 5.0, 600, 2, 4) for n in range(4)]
    drawn = ET.fromstring(plot(batches))
    space = {"s": "http://www.w3.org/2000/svg"}
    assert len(drawn.findall("s:circle", space)) == 4
    shares, workers, asked, _ = (line.get("points").split() for line in drawn.findall("s:polyline", space))
    heights = [float(point.split(",")[1]) for point in shares]
    assert heights[2] == min(heights)
    assert len({point.split(",")[1] for point in workers}) == 1
    assert float(asked[0].split(",")[1]) < float(workers[0].split(",")[1])
