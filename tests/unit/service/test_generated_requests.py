"""Generated requests, valid or broken in one place: each gets what the model says, and never an internal error."""

import json
import random
from collections import Counter

import pytest
from botocore.model import ListShape, MapShape, StructureShape
from botocore.validate import ParamValidator

from gluepot.service.errors import ServiceError
from gluepot.service.operations import operations_of
from gluepot.service.wire.app import SERVICES, called
from gluepot.service.wire.shapes import operation, violations
from tests.unit.service.world import World, wrong_in

REQUESTS = 1_000
SEED = 20_260_504
DEPTH = 4
WORDS = (
    "arn:aws:glue:us-east-1:000000000000:job/daily",
    "3f2b8c1e-0000-4000-8000-000000000001",
    "daily",
    "orders",
    "jr_1",
    "s3://bucket/job.py",
    "glueetl",
    "G.1X",
    "5.0",
    "Ünïcode 🙂",
    "%s{}'\";--",
    "x" * 255,
)
# What the model does not list for an operation, but every operation may answer.
ALWAYS = {"ValidationException", "InvalidInputException", "EntityNotFoundException", "AccessDeniedException"}
# CloudWatch names its errors by the codes of an older protocol.
OF_CLOUDWATCH = {
    "InvalidFormat",
    "LimitExceeded",
    "ResourceNotFound",
    "ValidationError",
    "InvalidParameterValue",
    "InvalidParameterCombination",
    "MissingParameter",
}


class Generator:
    """Makes values of shapes."""

    def __init__(self, seed):
        self.chance = random.Random(seed)

    def value(self, shape, depth=0):
        if isinstance(shape, StructureShape):
            chosen = [
                name
                for name in shape.members
                if name in shape.required_members or (depth < DEPTH and self.chance.random() < 0.4)
            ]
            return {name: self.value(shape.members[name], depth + 1) for name in chosen}
        if isinstance(shape, ListShape):
            least = shape.metadata.get("min", 0)
            return [self.value(shape.member, depth + 1) for _ in range(max(least, self.chance.randint(0, 2)))]
        if isinstance(shape, MapShape):
            return {self.text(shape.key): self.value(shape.value, depth + 1) for _ in range(self.chance.randint(0, 2))}
        match shape.type_name:
            case "string" | "blob":
                return self.text(shape)
            case "boolean":
                return self.chance.random() < 0.5
            case "timestamp":
                return self.chance.uniform(0, 2e9)
            case kind:
                least, most = shape.metadata.get("min", -5), shape.metadata.get("max", 10_000)
                number = self.chance.randint(int(least), int(min(most, least + 20)))
                return number if kind in {"integer", "long"} else float(number)

    def text(self, shape):
        if enum := shape.metadata.get("enum"):
            return self.chance.choice(enum)
        fitting = [word for word in WORDS if not list(violations(shape, word))]
        return self.chance.choice(fitting or ["0"])

    def broken(self, shape, value):
        """Return the value with one member that the model refuses; None if there is none to break."""
        names = [name for name in value if name in shape.members]
        self.chance.shuffle(names)
        for name in names:
            member = shape.members[name]
            for wrong in ([], {}, 5, "", "\u0000", "y" * 3000, True, -1, 10**9):
                if list(violations(member, wrong)):
                    return {**value, name: wrong}
        return None


def outcome(operations, name, body):
    """Return the answer, or the refusal."""
    try:
        return called(operations, name, json.dumps(body).encode())
    except ServiceError as refused:
        return refused


def fuzz(folder, requests, seed):
    service = World(folder, 1_777_777_777.0).service
    operations = operations_of(service)
    generator = Generator(seed)
    counts = Counter()
    for _ in range(requests):
        name = generator.chance.choice(sorted(operations))
        word, _, short = name.partition(".")
        model = operation(short, SERVICES[word])
        body = generator.value(model.input_shape)
        broken = generator.broken(model.input_shape, body) if generator.chance.random() < 0.3 else None
        is_broken = broken is not None or bool(list(violations(model.input_shape, body)))  # no word fits some patterns
        found = outcome(operations, name, broken or body)
        if isinstance(found, ServiceError):
            counts["refused"] += 1
            shown = (name, broken or body, found.code, found.message)
            older = OF_CLOUDWATCH if SERVICES[word] == "cloudwatch" else set()
            assert found.code in ALWAYS | older | {shape.name for shape in model.error_shapes}, shown
            assert found.status < 500, shown
            # EventBridge, unlike Glue, has no other error for what breaks a rule beyond the model.
            if is_broken or word != "AWSEvents":
                assert (found.code == "ValidationException") == is_broken, shown
        else:
            counts["answered"] += 1
            assert not is_broken, (name, broken or body)
            assert not ParamValidator().validate(body, model.input_shape).has_errors(), (name, body)
            if model.output_shape is not None:
                assert not wrong_in(model.output_shape, json.loads(json.dumps(found))), (name, found)
    return counts


def test_generated_requests_get_what_the_model_says(tmp_path):
    counts = fuzz(tmp_path, REQUESTS, SEED)
    assert min(counts["answered"], counts["refused"]) > REQUESTS / 10


@pytest.mark.long
def test_twenty_thousand_generated_requests_get_what_the_model_says(tmp_path):
    fuzz(tmp_path, 20_000, SEED + 1)
