"""Publishing a survey whose tickets decide public words."""


async def publish(client, made):
    assert (await client.post("/v1/surveys", json=made.canonical)).status_code == 201
    return f"/v1/versions/{made.version}"
