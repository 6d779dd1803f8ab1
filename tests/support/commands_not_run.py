"""Commands and examples of the documents that no test runs, and why."""

LEFT_OUT = {  # parts of commands and of examples that are not run, and why
    "pip install": "changes the environment; make release installs every package",
    "serve --demo": "tests/relay/test_relay_readme.py runs both commands",
    "fldp relay --to": "tests/relay/test_relay_readme.py runs both commands",
    'relay="http://127.0.0.1:8081"': "needs a relay; tests/relay/test_relay_end_to_end.py",
    "fldp issuer": "an issuer with a collector; tests/issuer/test_issuer.py",
    "survey.toml                # with [collect] submit": "a key of the reader's; tests/issuer/test_issuer.py",
    "fldp ticket create commute": "for the survey above it; tests/issuer/test_issuer.py",
    "client.obtain_pass": "needs an issuer and a relay; tests/client/test_client_passes.py",
    "Rscript": "needs R; tests/distributed/test_duckdb.py",
    "s3://bucket": "other machines; tests/distributed has an object store",
    "spark://master:7077": "other machines; tests/distributed runs Spark",
    "tcp://scheduler:8786": "other machines; tests/distributed runs Dask",
    "--engine dask -o": "starts a cluster; tests/distributed compares its bytes",
    "client=client": "needs a cluster; tests/distributed",
    "spark.read.parquet": "needs a cluster; tests/distributed",
    "reports.write.parquet": "needs a cluster; tests/distributed",
    "node client.js": "a client of the reader; tests/javascript audits ours",
    "node tests/support/javascript_client.mjs": "tests/javascript audits it",
    "their_function": "a function of the reader; tests/museum has such functions",
    "fldp serve --lake": "a service; tests/collector has the lakes of collectors",
    "fldp export --data DATA": "names of the reader's folders; tests/collector exports so",
    "fldp export browser --to https://collector.example --lake DIR": "client.md runs it",
    "FLDP_DATABASE=postgresql://": "another machine; tests/collector has PostgreSQL",
    "survey=version": "a version of the reader's; the examples above it count the same lake",
    "2dff65b8": "a version of the reader's; the line above it counts the same lake",
    "fldp poisoning --plot": "all oracles, a minute; tests/privacy/test_poisoning.py",
    "experiment run paper": "810 tallies; tests/experiments/test_experiment_paper.py",
    "experiment run extended": "minutes; tests/experiments",
    "experiment run SPEC.toml": "a file of the reader's; the commands below run one",
    "experiment run cohort.toml": "tests/experiments/test_experiment.py runs it",
    "small = Specification": "tests/experiments/test_experiment.py runs it",
    "experiment paper": "minutes; tests/experiments/test_experiment_paper.py",
}

ENDS = {  # commands that end with another code than 0
    'fldp audit --survey survey.toml --value pay --value other --command "python forgetful.py"': 1,  # as the page says
    "fldp estimates words --to http://127.0.0.1:8080": 1,  # nobody has answered the search yet
}


def left_out(text):
    return text.startswith("make ") or any(part in text for part in LEFT_OUT)
