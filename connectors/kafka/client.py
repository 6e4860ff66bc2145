"""Translates the Java client properties of Glue and Spark scripts to librdkafka's properties."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from gluepot.core.errors import ConfigError, did_you_mean

# Properties with the same name and meaning in both clients.
SAME = frozenset({
    "bootstrap.servers", "security.protocol", "sasl.mechanism", "sasl.kerberos.service.name", "client.id", "group.id",
    "client.rack", "isolation.level", "fetch.min.bytes", "fetch.max.bytes", "max.partition.fetch.bytes",
    "session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms", "metadata.max.age.ms",
    "reconnect.backoff.ms", "reconnect.backoff.max.ms", "retry.backoff.ms", "connections.max.idle.ms", "check.crcs",
    "ssl.endpoint.identification.algorithm", "ssl.key.password", "group.instance.id", "client.dns.lookup",
    "socket.connection.setup.timeout.ms", "allow.auto.create.topics",
})  # fmt: skip

RENAMED = {
    "request.timeout.ms": "socket.timeout.ms",
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "sasl.kerberos.kinit.cmd": "sasl.kerberos.kinit.cmd",
    "sasl.kerberos.principal": "sasl.kerberos.principal",
    "sasl.kerberos.keytab": "sasl.kerberos.keytab",
    "sasl.username": "sasl.username",
    "sasl.password": "sasl.password",
    "ssl.ca.location": "ssl.ca.location",
}

# Properties that are translated together, below.
STORES = frozenset({
    "ssl.truststore.location", "ssl.truststore.type", "ssl.truststore.password",
    "ssl.keystore.location", "ssl.keystore.type", "ssl.keystore.password",
})  # fmt: skip

# Properties that only the Java client needs. They do not change which records are read.
MEANINGLESS = frozenset({
    "sasl.client.callback.handler.class", "sasl.login.callback.handler.class", "max.poll.records",
    "ssl.protocol", "ssl.enabled.protocols", "ssl.provider",
})  # fmt: skip

# Refused properties, as in Spark: the engine decides where reading starts and what is committed.
ENGINE_OWNED = {
    "auto.offset.reset": "use startingOffsets",
    "enable.auto.commit": "offsets are kept in the checkpoint",
    "key.deserializer": "records are read as bytes",
    "value.deserializer": "records are read as bytes",
    "interceptor.classes": "interceptors could change what is read",
}

IAM = "AWS_MSK_IAM"
_IAM_MARKER = "gluepot.iam"


def librdkafka_config(java: Mapping[str, str]) -> dict[str, Any]:
    """Translate Java consumer properties.

    Args:
        java: the properties, by names without the `kafka.` prefix.

    Returns:
        A configuration for confluent-kafka. `sasl.mechanism` AWS_MSK_IAM becomes OAUTHBEARER with the marker
        `gluepot.iam`, which `with_callbacks` turns into a token callback in the process that connects.

    Raises:
        ConfigError: a property has no translation, or names a JKS store.
    """
    config: dict[str, Any] = {}
    for name, value in java.items():
        if name in ENGINE_OWNED:
            raise ConfigError(f"kafka.{name} cannot be set: {ENGINE_OWNED[name]}; remove it.")
        if name in SAME:
            config[name] = value
        elif name in RENAMED:
            config[RENAMED[name]] = value
        elif name == "sasl.jaas.config":
            config |= _from_jaas(value)
        elif name not in STORES and name not in MEANINGLESS:
            known = SAME | RENAMED.keys() | STORES | {"sasl.jaas.config"}
            raise ConfigError(
                f"kafka.{name} has no counterpart in librdkafka, the client Gluepot reads Kafka with;"
                f" remove it.{did_you_mean(name, known)}",
            )
    config |= _truststore(java) | _keystore(java)
    if config.get("sasl.mechanism") == IAM:
        config |= {"sasl.mechanism": "OAUTHBEARER", _IAM_MARKER: "true"}
    return config


def needs_callbacks(config: Mapping[str, Any]) -> bool:
    """Tell whether a client with this configuration has to ask Python for something, such as a token."""
    return _IAM_MARKER in config


def with_callbacks(config: Mapping[str, Any]) -> dict[str, Any]:
    """Add the token callback of AWS_MSK_IAM, which cannot be pickled."""
    ready = dict(config)
    if ready.pop(_IAM_MARKER, None):
        ready["oauth_cb"] = _iam_token()
    return ready


def _iam_token() -> Callable[[str], tuple[str, float]]:
    try:
        from aws_msk_iam_sasl_signer import MSKAuthTokenProvider  # type: ignore[import-not-found] # noqa: PLC0415
    except ImportError as missing:
        raise ConfigError(
            "sasl.mechanism AWS_MSK_IAM needs the package aws-msk-iam-sasl-signer-python, which is not installed;"
            " install it next to gluepot.",
        ) from missing
    import os  # noqa: PLC0415

    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"

    def token(_: str) -> tuple[str, float]:
        text, expires_ms = MSKAuthTokenProvider.generate_auth_token(region)
        return text, expires_ms / 1000

    return token


def _from_jaas(jaas: str) -> dict[str, str]:
    """Extract user and password from a JAAS line; Kerberos and IAM lines have neither."""
    if "IAMLoginModule" in jaas:
        return {}
    quoted = re.findall(r'(\w+)\s*=\s*"((?:[^"\\]|\\.)*)"', jaas)
    found = {name: re.sub(r"\\(.)", r"\1", value) for name, value in quoted}
    if "Krb5LoginModule" in jaas:
        pairs = {"principal": "sasl.kerberos.principal", "keyTab": "sasl.kerberos.keytab"}
        return {ours: found[theirs] for theirs, ours in pairs.items() if theirs in found}
    if "username" not in found or "password" not in found:
        raise ConfigError(
            "kafka.sasl.jaas.config was not understood: it names no username and password;"
            ' write it as org.apache.kafka...LoginModule required username="..." password="...";',
        )
    return {"sasl.username": found["username"], "sasl.password": found["password"]}


def _store_type(java: Mapping[str, str], which: str) -> str:
    location = java[f"ssl.{which}.location"].lower()
    guess = "PKCS12" if location.endswith((".p12", ".pfx")) else "PEM" if location.endswith((".pem", ".crt")) else "JKS"
    return java.get(f"ssl.{which}.type", guess).upper()


def _no_jks(which: str, location: str) -> ConfigError:
    return ConfigError(
        f"kafka.ssl.{which}.location {location} is a Java key store, which librdkafka cannot read; export it as PEM"
        f" (keytool -importkeystore -deststoretype PKCS12, then openssl pkcs12) and set kafka.ssl.{which}.type=PEM.",
    )


def _truststore(java: Mapping[str, str]) -> dict[str, str]:
    if "ssl.truststore.location" not in java:
        return {}
    location = java["ssl.truststore.location"]
    if _store_type(java, "truststore") != "PEM":
        raise _no_jks("truststore", location)
    return {"ssl.ca.location": location}


def _keystore(java: Mapping[str, str]) -> dict[str, str]:
    if "ssl.keystore.location" not in java:
        return {}
    location = java["ssl.keystore.location"]
    match _store_type(java, "keystore"):
        case "PEM":
            return {"ssl.certificate.location": location, "ssl.key.location": location}
        case "PKCS12":
            password = java.get("ssl.keystore.password", "")
            return {"ssl.keystore.location": location, "ssl.keystore.password": password}
        case _:
            raise _no_jks("keystore", location)
