"""Publishing a survey whose tickets decide public words."""


async def publish(client, survey):
    assert (await client.post("/v1/surveys", json=survey.canonical)).status_code == 201
    return f"/v1/versions/{survey.version}"
