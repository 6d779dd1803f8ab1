"""What tests of the client share."""

import fldp

TOKEN = "fldp_admin_" + "S3cret-" * 6


LABELS = ["chrome", "firefox", "safari", "edge", "other"]


def estimates_reply(row):
    """What a collector answers with one estimate."""
    about = {"oracle": {}, "eta": 1.0, "anonymity": 2, "options": {}, "method": "unbiased", "biased": False}
    return {**about, "n": 5, "level": 0.95, "rows": [row]}


def survey(name="browser", **more):
    fields = {"name": name, "question": "Which browser?", "labels": LABELS, "oracle": {"name": "fhr", "epsilon": 1.0}}
    return fldp.Survey.from_dict({**fields, **more})


def self_signed():
    from datetime import UTC, datetime, timedelta
    from ipaddress import ip_address

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(
        name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(1)
    )
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), False)
    pem = serialization.Encoding.PEM
    form = serialization.PrivateFormat.PKCS8
    return (
        key.private_bytes(pem, form, serialization.NoEncryption()),
        builder.sign(key, hashes.SHA256()).public_bytes(pem),
    )
