import pytest

from fldp import ParameterError
from fldp.support.web_origin import origin_of


@pytest.mark.parametrize(
    ("origin", "plain"),
    [
        ("http://a.example:80", "http://a.example"),
        ("http://a.example:443", "http://a.example:443"),
        ("http://a.example:08080/", "http://a.example:8080"),
        ("http://LOCALHOST:8000", "http://localhost:8000"),
        ("https://[0:0:0:0:0:0:0:1]", "https://[::1]"),
        ("https://[2001:DB8:0:0:1:0:0:1]:443", "https://[2001:db8::1:0:0:1]"),
        ("http://127.0.0.1.:80/", "http://127.0.0.1"),
        ("http://[::ffff:127.0.0.1]", "http://127.0.0.1"),
        ("http://[0:0:0:0:0:FFFF:7f00:0001]:8000", "http://127.0.0.1:8000"),
        ("https://1.2.3.4.example", "https://1.2.3.4.example"),
        ("https://0x7f.1x", "https://0x7f.1x"),
        ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
    ],
)
def test_origins(origin, plain):
    assert origin_of(origin) == origin_of(plain) == plain


@pytest.mark.parametrize(
    "origin",
    ["", "collector.example", "ftp://a.example", "https://", "https://a.example/path", "https://a.example?x", None, 7,
     "https://user@a.example", "https://a.example:0", "https://a.example:70000", "https://a b", "https://a.example\n",
     "http://127.1", "http://0x7f.1", "http://0x7f.0.0.0X1", "http://2130706433", "http://0x7f000001", "http://017700000001",
     "http://0177.0.0.1", "http://127.0.0.01", "http://127.0.0.1.1", "http://127.0.0.256", "http://a.1", "http://a.0x",
     "http://1.2.3.4..5", "http://127.0.1.", "http://[::ffff:127.1]", "http://[::1.2.3]", "http://[fe80::1%25eth0]",
     "https://bücher.example", "https://a.exam\tple", "https://[::g]", "https://[1.2.3.4]", "https://.", "\uff48ttps://a"],
)  # fmt: skip
def test_what_is_no_origin(origin):
    with pytest.raises(ParameterError, match=r"participant: origin must be an origin such as https://example.org, got"):
        origin_of(origin)
