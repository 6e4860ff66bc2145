import re
from functools import partial
from pathlib import Path

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from gluepot.catalog.connect import open_catalog
from gluepot.catalog.connections import Connection, Connections, kafka_options, load
from gluepot.catalog.connections.catalogued import connection_of_catalog
from gluepot.catalog.connections.content import parse
from gluepot.catalog.connections.file import find, tightening
from gluepot.catalog.connections.kafka import REFUSED
from gluepot.catalog.values import Entry
from gluepot.core.clock import FakeClock
from gluepot.core.errors import ConfigError

SERVERS = {"KAFKA_BOOTSTRAP_SERVERS": "b1:9092,b2:9092"}
PLAINTEXT = {**SERVERS, "KAFKA_SSL_ENABLED": "false"}
LOGIN = {"KAFKA_SASL_SCRAM_USERNAME": "ann", "KAFKA_SASL_SCRAM_PASSWORD": "pw"}
SCRAM_JAAS = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="ann" password="pw";'


def kafka(properties, environ=None):
    return kafka_options(Connection("events", "kafka", properties), environ or {})


def content(properties, kind="kafka"):
    return {"connections": {"events": {"type": kind, "properties": properties}}}


# The file


def test_a_file_gives_connections_by_name(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(
        "connections:\n  events:\n    type: KAFKA\n    properties:\n"
        "      KAFKA_BOOTSTRAP_SERVERS: b1:9092\n      KAFKA_SSL_ENABLED: false\n",
    )
    assert load(path, {}).get("events") == Connection(
        "events", "kafka", {"KAFKA_BOOTSTRAP_SERVERS": "b1:9092", "KAFKA_SSL_ENABLED": "false"}
    )


def test_an_empty_file_has_no_connections(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("# nothing yet\n")
    assert load(path, {}) == Connections({}, path)


@pytest.mark.parametrize(
    ("mode", "owner_uid", "remedy"),
    [
        (0o600, 1000, None),
        (0o644, 1000, None),
        (0o644, 0, None),
        (0o664, 1000, "chmod go-w"),
        (0o646, 1000, "chmod go-w"),
        (0o600, 1001, "belongs to the user 1001"),
    ],
)
def test_a_file_that_others_can_change_is_known_with_the_remedy(mode, owner_uid, remedy):
    said = tightening(mode, owner_uid, own_uid=1000)
    assert remedy is None if said is None else remedy in said


@pytest.mark.parametrize(("mode", "warnings"), [(0o666, 1), (0o600, 0)])
def test_a_warning_names_a_file_that_others_can_write(tmp_path, mode, warnings):
    path = tmp_path / "c.yaml"
    path.touch()
    path.chmod(mode)
    with structlog.testing.capture_logs() as lines:
        load(path, {})
    assert [line["file"] for line in lines] == [str(path)] * warnings


def test_an_unknown_name_is_answered_with_the_known_ones():
    connections = parse(content(SERVERS), Path("c.yaml"))
    with pytest.raises(ConfigError, match=r"'event' is not known; c\.yaml has events\. Did you mean 'events'\?"):
        connections.get("event")


def test_without_a_file_an_unknown_name_tells_how_to_write_one():
    with pytest.raises(ConfigError, match=r"no connections file; write \./gluepot\.connections\.yaml"):
        Connections().get("events")


@pytest.mark.parametrize(
    ("plain", "said"),
    [
        (["events"], "c.yaml: the file:"),
        ({"conections": {}}, "c.yaml: conections: Extra inputs are not permitted"),
        ({"connections": {"events": {"type": "kafka"}}}, "c.yaml: connections.events.properties: Field required"),
        (content({"KAFKA_BOOTSTRAP_SERVERS": ["b1"]}), "KAFKA_BOOTSTRAP_SERVERS: Input should be a valid string"),
    ],
)
def test_a_wrong_shape_is_told_with_file_place_and_the_right_one(plain, said):
    with pytest.raises(ConfigError) as refused:
        parse(plain, Path("c.yaml"))
    assert said in str(refused.value)
    assert "write connections: {name: {type: kafka" in str(refused.value)


def test_an_unknown_type_is_answered_with_the_nearest_one():
    with pytest.raises(ConfigError, match=r"'events' has the type 'kafkaa'; use one of kafka, .* Did you mean 'kafka'"):
        parse(content(SERVERS, kind="kafkaa"), Path("c.yaml"))


@pytest.mark.parametrize("kind", ["kinesis", "s3", "custom", "marketplace"])
def test_connections_that_others_read_may_have_any_property(kind):
    assert parse(content({"anything": "1"}, kind=kind), Path("c.yaml")).get("events").properties == {"anything": "1"}


def test_a_connection_of_another_type_is_not_taken_for_kafka():
    with pytest.raises(ConfigError, match="'events' is of type jdbc; name one of type kafka"):
        kafka_options(Connection("events", "jdbc", {}), {})


def test_an_unknown_property_is_answered_with_the_nearest_one():
    with pytest.raises(ConfigError, match=r"'events' has an unknown property 'KAFKA_BOOTSTRAP_SERVER'\. Did you mean"):
        parse(content({"KAFKA_BOOTSTRAP_SERVER": "b1"}), Path("c.yaml"))


def test_a_property_near_nothing_is_answered_with_all_of_them():
    with pytest.raises(ConfigError, match="Known are KAFKA_BOOTSTRAP_SERVERS, KAFKA_SSL_ENABLED"):
        parse(content({"zzz": "1"}), Path("c.yaml"))


def test_broken_yaml_is_told_with_its_line_and_without_its_secrets(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text('connections:\n  password: "hunter2\n')
    with pytest.raises(ConfigError) as refused:
        load(path, {})
    assert re.search(r"c\.yaml is not YAML at line \d+; correct it there", str(refused.value))
    assert "hunter2" not in str(refused.value)
    assert refused.value.__suppress_context__


def test_a_value_of_the_wrong_kind_is_not_quoted():
    with pytest.raises(ConfigError) as refused:
        parse(content({"KAFKA_SASL_SCRAM_PASSWORD": {"hunter2": 1}}), Path("c.yaml"))
    assert "hunter2" not in str(refused.value)


def test_a_folder_is_not_a_connections_file(tmp_path):
    with pytest.raises(ConfigError, match="does not exist"):
        load(tmp_path, {})


def test_properties_do_not_show_when_a_connection_is_printed():
    assert "pw" not in repr(Connection("events", "kafka", LOGIN))


# Where it is


@pytest.fixture
def places(tmp_path):
    """Every place a file may be, in order: named, environment, working folder, home."""
    cwd, home = tmp_path / "cwd", tmp_path / "home"
    files = [tmp_path / "a.yaml", tmp_path / "b.yaml", cwd / "gluepot.connections.yaml"]
    files.append(home / ".config" / "gluepot" / "connections.yaml")
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    return cwd, home, files


def test_the_file_named_comes_before_the_environment_the_working_folder_and_home(places):
    cwd, home, (named, in_environment, in_cwd, in_home) = places
    environ = {"GLUEPOT_CONNECTIONS": str(in_environment)}
    assert find(named, environ, cwd, home) == named
    assert find(None, environ, cwd, home) == in_environment
    assert find(None, {}, cwd, home) == in_cwd
    in_cwd.unlink()
    assert find(None, {}, cwd, home) == in_home
    in_home.unlink()
    assert find(None, {}, cwd, home) is None


def test_a_named_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match=r"gone\.yaml does not exist; correct the path or GLUEPOT_CONNECTIONS"):
        find(None, {"GLUEPOT_CONNECTIONS": str(tmp_path / "gone.yaml")}, tmp_path, tmp_path)


# References


def test_a_value_may_name_an_environment_variable():
    assert kafka({**PLAINTEXT, "KAFKA_BOOTSTRAP_SERVERS": "env:B"}, {"B": "b9:9"})["bootstrap.servers"] == "b9:9"


def test_a_value_may_name_a_file_whose_last_line_end_does_not_count(tmp_path):
    secret = tmp_path / "servers"
    secret.write_text("b9:9\r\n")
    assert kafka({**PLAINTEXT, "KAFKA_BOOTSTRAP_SERVERS": f"file:{secret}"})["bootstrap.servers"] == "b9:9"


@pytest.mark.parametrize("reference", ["env:GONE", "file:/gone/secret", "env:", "file:/proc"])
def test_a_reference_to_nothing_names_connection_property_and_reference(reference):
    with pytest.raises(ConfigError) as refused:
        kafka({"KAFKA_BOOTSTRAP_SERVERS": reference})
    for part in ("'events'", "KAFKA_BOOTSTRAP_SERVERS", repr(reference)):
        assert part in str(refused.value)


def test_a_secret_file_that_is_no_text_is_refused_without_its_bytes(tmp_path):
    secret = tmp_path / "s"
    secret.write_bytes(b"hunter\xff")
    with pytest.raises(ConfigError, match="it is not UTF-8 text") as refused:
        kafka({"KAFKA_BOOTSTRAP_SERVERS": f"file:{secret}"})
    assert refused.value.__suppress_context__


@pytest.mark.parametrize("servers", ["env", "file", "environment:9092"])
def test_a_plain_value_that_only_begins_like_a_reference_is_itself(servers):
    assert kafka({**PLAINTEXT, "KAFKA_BOOTSTRAP_SERVERS": servers})["bootstrap.servers"] == servers


# Kafka's options


@pytest.mark.parametrize(
    ("properties", "protocol"),
    [
        (SERVERS, "SSL"),
        (PLAINTEXT, "PLAINTEXT"),
        ({**SERVERS, "KAFKA_SASL_MECHANISM": "SCRAM-SHA-512", **LOGIN}, "SASL_SSL"),
        ({**PLAINTEXT, "KAFKA_SASL_MECHANISM": "SCRAM-SHA-512", **LOGIN}, "SASL_PLAINTEXT"),
        ({**PLAINTEXT, "KAFKA_SASL_MECHANISM": "AWS_MSK_IAM"}, "SASL_SSL"),
    ],
)
def test_the_protocol_follows_from_ssl_and_sasl(properties, protocol):
    assert kafka(properties)["kafka.security.protocol"] == protocol


def test_scram_becomes_a_jaas_login():
    options = kafka({**SERVERS, "KAFKA_SASL_MECHANISM": "SCRAM-SHA-512", **LOGIN})
    assert options == {
        "bootstrap.servers": "b1:9092,b2:9092",
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "SCRAM-SHA-512",
        "kafka.sasl.jaas.config": SCRAM_JAAS,
    }


def test_plain_becomes_a_jaas_login():
    login = {"KAFKA_SASL_PLAIN_USERNAME": "ann", "KAFKA_SASL_PLAIN_PASSWORD": "pw"}
    options = kafka({**SERVERS, "KAFKA_SASL_MECHANISM": "PLAIN", **login})
    assert options["kafka.sasl.jaas.config"] == (
        'org.apache.kafka.common.security.plain.PlainLoginModule required username="ann" password="pw";'
    )


@given(st.text(min_size=1).filter(lambda text: not text.startswith(("env:", "file:"))))
def test_any_password_survives_the_quoting_of_jaas(password):
    options = kafka(
        {**SERVERS, "KAFKA_SASL_MECHANISM": "SCRAM-SHA-512", **LOGIN, "KAFKA_SASL_SCRAM_PASSWORD": password}
    )
    quoted = options["kafka.sasl.jaas.config"].partition("password=")[2]
    assert re.fullmatch(r'"((?:[^"\\]|\\.)*)";', quoted, re.DOTALL)
    assert re.sub(r"\\(.)", r"\1", quoted[1:-2], flags=re.DOTALL) == password


def test_kerberos_takes_service_keytab_and_principal():
    options = kafka(
        {
            **SERVERS,
            "KAFKA_SASL_MECHANISM": "GSSAPI",
            "KAFKA_SASL_GSSAPI_SERVICE": "kafka",
            "KAFKA_SASL_GSSAPI_KEYTAB": "/etc/ann.keytab",
            "KAFKA_SASL_GSSAPI_PRINCIPAL": "ann@EXAMPLE.ORG",
        }
    )
    assert options["kafka.sasl.kerberos.service.name"] == "kafka"
    assert 'keyTab="/etc/ann.keytab" principal="ann@EXAMPLE.ORG";' in options["kafka.sasl.jaas.config"]


def test_iam_is_spelled_as_scripts_spell_it():
    options = kafka({**SERVERS, "KAFKA_SASL_MECHANISM": "AWS_MSK_IAM"})
    assert options["kafka.sasl.mechanism"] == "AWS_MSK_IAM"
    assert options["kafka.sasl.jaas.config"] == "software.amazon.msk.auth.iam.IAMLoginModule required;"


def test_a_private_authority_may_be_a_path():
    options = kafka({**SERVERS, "KAFKA_CUSTOM_CERT": "/etc/ca.pem"})
    assert options["kafka.ssl.truststore.type"] == "PEM"
    assert options["kafka.ssl.truststore.location"] == "/etc/ca.pem"


def test_a_private_authority_may_be_the_certificate_itself(tmp_path):
    pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"
    (tmp_path / "ca.pem").write_text(pem + "\n")
    options = kafka({**SERVERS, "KAFKA_CUSTOM_CERT": f"file:{tmp_path}/ca.pem"})
    assert options["kafka.ssl.truststore.certificates"] == pem
    assert "kafka.ssl.truststore.location" not in options


def test_a_client_keystore_comes_with_its_passwords():
    options = kafka({**SERVERS, "KAFKA_CLIENT_KEYSTORE": "/k.jks", "KAFKA_CLIENT_KEYSTORE_PASSWORD": "pw"})
    assert options["kafka.ssl.keystore.location"] == "/k.jks"
    assert options["kafka.ssl.keystore.password"] == "pw"
    assert "kafka.ssl.key.password" not in options


@pytest.mark.parametrize("name", ["KAFKA_CUSTOM_CERT", "KAFKA_CLIENT_KEYSTORE"])
def test_a_file_on_s3_is_refused_with_what_to_do(name):
    with pytest.raises(ConfigError, match=rf"{name} is 's3://b/x', .* copy it to this machine"):
        kafka({**SERVERS, name: "s3://b/x"})


@pytest.mark.parametrize(
    ("properties", "missing"),
    [
        ({}, "KAFKA_BOOTSTRAP_SERVERS"),
        ({**SERVERS, "KAFKA_SASL_MECHANISM": "PLAIN"}, "KAFKA_SASL_PLAIN_USERNAME"),
        ({**SERVERS, "KAFKA_SASL_MECHANISM": "GSSAPI"}, "KAFKA_SASL_GSSAPI_SERVICE"),
    ],
)
def test_a_missing_property_is_named(properties, missing):
    with pytest.raises(ConfigError, match=f"'events' lacks the property {missing}"):
        kafka(properties)


def test_an_unknown_mechanism_is_answered_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"'SCRAM-SHA-521'; use one of .*Did you mean 'SCRAM-SHA-512'\?"):
        kafka({**SERVERS, "KAFKA_SASL_MECHANISM": "SCRAM-SHA-521"})


def test_a_flag_is_true_or_false():
    with pytest.raises(ConfigError, match="KAFKA_SSL_ENABLED is 'maybe'; use true or false"):
        kafka({**SERVERS, "KAFKA_SSL_ENABLED": "maybe"})


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_only_aws_can_follow_is_refused_with_what_to_do(name):
    with pytest.raises(ConfigError, match=f"'events': {name} cannot be used outside AWS; "):
        kafka({**SERVERS, name: "x"})


@pytest.mark.parametrize(
    ("kind", "properties", "said"),
    [
        ("SALESFORCE", {}, "Data Catalog: connection 'made' has the type 'salesforce'; use one of kafka"),
        ("KAFKA", {"HOST": "hunter2"}, "Data Catalog: connection 'made' has an unknown property 'HOST'"),
    ],
)
def test_a_connection_of_the_catalog_that_scripts_cannot_use_is_refused(tmp_path, kind, properties, said):
    environ = {"GLUEPOT_CATALOG": f"sqlite:///{tmp_path}/catalog.db"}
    catalog = open_catalog(environ["GLUEPOT_CATALOG"], FakeClock(0.0))
    catalog.add_entry(Entry("connection", "made", {"ConnectionType": kind, "ConnectionProperties": properties}))
    catalog.close()
    with pytest.raises(ConfigError) as refused:
        Connections(elsewhere=partial(connection_of_catalog, environ)).get("made")
    assert said in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_a_connection_that_is_nowhere_is_told_with_both_places(tmp_path):
    environ = {"GLUEPOT_CATALOG": f"sqlite:///{tmp_path}/catalog.db"}
    with pytest.raises(ConfigError, match=r"no connections file; .* The Data Catalog does not have it, either\."):
        Connections(elsewhere=partial(connection_of_catalog, environ)).get("nowhere")
