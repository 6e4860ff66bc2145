"""A Glue connection of type KAFKA as options of a Kafka client.

| Glue's property | Java client property (with the prefix `kafka.`) |
| --- | --- |
| KAFKA_BOOTSTRAP_SERVERS | `bootstrap.servers`, without the prefix: the option as Glue spells it |
| KAFKA_SSL_ENABLED (default true), KAFKA_SASL_MECHANISM | security.protocol, sasl.mechanism |
| KAFKA_SASL_SCRAM_USERNAME, ..._PASSWORD; KAFKA_SASL_PLAIN_... | sasl.jaas.config |
| KAFKA_SASL_SCRAM_SECRETS_ARN, of a secret with username and password | sasl.jaas.config |
| KAFKA_SASL_GSSAPI_SERVICE; ..._KEYTAB, ..._PRINCIPAL | sasl.kerberos.service.name; sasl.jaas.config |
| KAFKA_CUSTOM_CERT, a path | ssl.truststore.type=PEM, ssl.truststore.location |
| KAFKA_CUSTOM_CERT, PEM text (`file:/path`, `env:NAME`) | ssl.truststore.type=PEM, ssl.truststore.certificates |
| KAFKA_CLIENT_KEYSTORE, ..._PASSWORD, KAFKA_CLIENT_KEY_PASSWORD | ssl.keystore.location, .password, ssl.key.password |
| KAFKA_SKIP_CUSTOM_CERT_VALIDATION | none: it governs a check of Glue's console, not of the client |
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from gluepot.catalog.connections.connection import Connection
from gluepot.catalog.connections.properties import Properties
from gluepot.catalog.connections.secrets import secret_member, secret_text
from gluepot.core.errors import ConfigError, did_you_mean

MECHANISMS = ("SCRAM-SHA-512", "GSSAPI", "AWS_MSK_IAM", "PLAIN")

_USE_REFERENCE = "give the user and the password as env:NAME or file:/path"
REFUSED = {
    "KAFKA_SASL_GSSAPI_KRB5_CONF": "set the environment variable KRB5_CONFIG to its path, for the whole process",
    "ENCRYPTED_KAFKA_SASL_SCRAM_PASSWORD": _USE_REFERENCE,
    "ENCRYPTED_KAFKA_SASL_PLAIN_PASSWORD": _USE_REFERENCE,
    "ENCRYPTED_KAFKA_CLIENT_KEYSTORE_PASSWORD": _USE_REFERENCE,
    "ENCRYPTED_KAFKA_CLIENT_KEY_PASSWORD": _USE_REFERENCE,
}
"""Properties that only AWS can follow, each with what to do instead."""

KAFKA_PROPERTIES = (
    "KAFKA_BOOTSTRAP_SERVERS",
    "KAFKA_SSL_ENABLED",
    "KAFKA_CUSTOM_CERT",
    "KAFKA_SKIP_CUSTOM_CERT_VALIDATION",
    "KAFKA_CLIENT_KEYSTORE",
    "KAFKA_CLIENT_KEYSTORE_PASSWORD",
    "KAFKA_CLIENT_KEY_PASSWORD",
    "KAFKA_SASL_MECHANISM",
    "KAFKA_SASL_SCRAM_USERNAME",
    "KAFKA_SASL_SCRAM_PASSWORD",
    "KAFKA_SASL_SCRAM_SECRETS_ARN",
    "KAFKA_SASL_PLAIN_USERNAME",
    "KAFKA_SASL_PLAIN_PASSWORD",
    "KAFKA_SASL_GSSAPI_KEYTAB",
    "KAFKA_SASL_GSSAPI_SERVICE",
    "KAFKA_SASL_GSSAPI_PRINCIPAL",
    *REFUSED,
)

_MODULES = "org.apache.kafka.common.security"


def kafka_options(connection: Connection, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return read options equal to the connection: `bootstrap.servers` and `kafka.*` as the Java client names them.

    References are followed here, so the result holds secrets in clear.

    Raises:
        ConfigError: a property is missing, has a wrong value, refers to nothing, or can only be followed by AWS.
    """
    if connection.type != "kafka":
        raise ConfigError(f"connection {connection.name!r} is of type {connection.type}; name one of type kafka")
    for name, instead in REFUSED.items():
        if connection.properties.get(name):
            raise ConfigError(f"connection {connection.name!r}: {name} cannot be used outside AWS; {instead}")
    properties = Properties(connection, environ)
    client = {
        "security.protocol": _security_protocol(properties),
        **_sasl(properties),
        **_truststore(properties),
        **_keystore(properties),
    }
    return {
        "bootstrap.servers": properties.required("KAFKA_BOOTSTRAP_SERVERS"),
        **{f"kafka.{name}": value for name, value in client.items()},
    }


def _security_protocol(properties: Properties) -> str:
    ssl = properties.flag("KAFKA_SSL_ENABLED", default=True)
    mechanism = _mechanism(properties)
    if mechanism == "AWS_MSK_IAM":
        return "SASL_SSL"  # the only protocol MSK offers for IAM
    if mechanism:
        return "SASL_SSL" if ssl else "SASL_PLAINTEXT"
    return "SSL" if ssl else "PLAINTEXT"


def _mechanism(properties: Properties) -> str:
    mechanism = properties.optional("KAFKA_SASL_MECHANISM")
    if mechanism and mechanism not in MECHANISMS:
        raise ConfigError(
            f"connection {properties.connection!r}: KAFKA_SASL_MECHANISM is {mechanism!r}; "
            f"use one of {', '.join(MECHANISMS)}.{did_you_mean(mechanism, MECHANISMS)}",
        )
    return mechanism


def _sasl(properties: Properties) -> dict[str, str]:
    mechanism = _mechanism(properties)
    match mechanism:
        case "SCRAM-SHA-512":
            return {"sasl.mechanism": mechanism, "sasl.jaas.config": _scram_login(properties)}
        case "PLAIN":
            login = _login(f"{_MODULES}.plain.PlainLoginModule", properties, "KAFKA_SASL_PLAIN")
            return {"sasl.mechanism": mechanism, "sasl.jaas.config": login}
        case "GSSAPI":
            return {
                "sasl.mechanism": mechanism,
                "sasl.kerberos.service.name": properties.required("KAFKA_SASL_GSSAPI_SERVICE"),
                "sasl.jaas.config": _jaas(
                    "com.sun.security.auth.module.Krb5LoginModule",
                    useKeyTab="true",
                    storeKey="true",
                    keyTab=properties.required("KAFKA_SASL_GSSAPI_KEYTAB"),
                    principal=properties.required("KAFKA_SASL_GSSAPI_PRINCIPAL"),
                ),
            }
        case "AWS_MSK_IAM":
            return {
                "sasl.mechanism": mechanism,
                "sasl.jaas.config": _jaas("software.amazon.msk.auth.iam.IAMLoginModule"),
                "sasl.client.callback.handler.class": "software.amazon.msk.auth.iam.IAMClientCallbackHandler",
            }
        case _:
            return {}


def _login(module: str, properties: Properties, prefix: str) -> str:
    return _jaas(
        module,
        username=properties.required(f"{prefix}_USERNAME"),
        password=properties.required(f"{prefix}_PASSWORD"),
    )


def _scram_login(properties: Properties) -> str:
    module = f"{_MODULES}.scram.ScramLoginModule"
    arn = properties.optional("KAFKA_SASL_SCRAM_SECRETS_ARN")
    if not arn:
        return _login(module, properties, "KAFKA_SASL_SCRAM")
    owner = f"connection {properties.connection!r}, property KAFKA_SASL_SCRAM_SECRETS_ARN"
    secret = secret_text(arn, owner)
    of_secret = {name: secret_member(secret, name, arn, owner) for name in ("username", "password")}
    return _jaas(module, **of_secret)


def _jaas(module: str, **options: str) -> str:
    quoted = [f"{name}={_quoted(value)}" for name, value in options.items()]
    return " ".join([module, "required", *quoted]) + ";"


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _truststore(properties: Properties) -> dict[str, str]:
    certificate = properties.optional("KAFKA_CUSTOM_CERT")
    if not certificate:
        return {}
    _refuse_remote(properties, "KAFKA_CUSTOM_CERT", certificate)
    where = "certificates" if certificate.lstrip().startswith("-----BEGIN") else "location"
    return {"ssl.truststore.type": "PEM", f"ssl.truststore.{where}": certificate}


def _keystore(properties: Properties) -> dict[str, str]:
    location = properties.optional("KAFKA_CLIENT_KEYSTORE")
    if not location:
        return {}
    _refuse_remote(properties, "KAFKA_CLIENT_KEYSTORE", location)
    passwords = {
        "ssl.keystore.password": properties.optional("KAFKA_CLIENT_KEYSTORE_PASSWORD"),
        "ssl.key.password": properties.optional("KAFKA_CLIENT_KEY_PASSWORD"),
    }
    return {"ssl.keystore.location": location} | {name: text for name, text in passwords.items() if text}


def _refuse_remote(properties: Properties, name: str, path: str) -> None:
    if "://" in path.partition("\n")[0]:
        raise ConfigError(
            f"connection {properties.connection!r}: {name} is {path!r}, and the Kafka client reads local files only; "
            "copy it to this machine and give its path",
        )
