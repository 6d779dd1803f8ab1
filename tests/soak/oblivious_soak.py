"""Encapsulated noise, at length: 20,000 damaged requests to a gateway, none of which it may fail on or miscount."""

import random
import tempfile
from collections import Counter

from fldp.oblivious import ohttp
from fldp.oblivious.bhttp import BinaryRequest
from support.collector_server import Server, batch, key
from support.encapsulated_requests import fuzzed

BODIES = 20_000


def good_request(survey):
    """Return the bytes of a request that sends a report."""
    headers = ((b"content-type", b"application/octet-stream"), (b"idempotency-key", key().encode()))
    path = f"/v1/versions/{survey.version}/reports".encode()
    return BinaryRequest(b"POST", path, headers, batch(survey)).encode()


def main(bodies=BODIES, seed=1):
    """Run it and print what was seen; anything that is not as it must be is an error."""
    numbers, outcomes = random.Random(seed), Counter()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder, log="false", ohttp="true")
        survey = server.publish(name="browser")
        good = good_request(survey)
        with server.client() as client:
            config = ohttp.decode_keys(client.get("/v1/ohttp/keys").content)[0]
            for _ in range(bodies):
                one = fuzzed(numbers, config, good)
                answer = client.post("/v1/ohttp", content=one.body, headers={"Content-Type": ohttp.REQUEST_TYPE})
                outcomes[one.check(answer.status_code, answer.content)] += 1
        print(f"{bodies:,} encapsulated bodies: {dict(sorted(outcomes.items()))}", flush=True)
        assert server.counts()[survey.version] <= outcomes[200]  # damage beyond the report itself leaves it good
        assert server.fsck().returncode == 0
        assert server.stop() == 0
