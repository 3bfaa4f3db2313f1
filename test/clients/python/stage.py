# What every Python program of this folder shares: it plays each scene on each model of its job, which is JSON in its
# first argument, and prints one line of JSON for each, with what the library's user sees. The caller judges.
import json
import sys
from importlib.metadata import version

JOB = json.loads(sys.argv[1])
URL = JOB["url"]
KEY = JOB["key"]
PROMPTS = JOB["prompts"]
RESULTS = JOB["results"]

looked_up = []


def lookup(place: str) -> str:
    """What there is to know about a place"""
    looked_up.append(place)
    return RESULTS[place]


PARAMETERS = {
    "type": "object",
    "properties": {"place": {"type": "string", "description": "The place"}},
    "required": ["place"],
    "additionalProperties": False,
}


def play(client, family, package, scenes):
    for upstream, model in JOB["models"][family].items():
        for scene in ("stream", "tools", "object", "error"):
            looked_up.clear()
            try:
                facts = scenes[scene](model)
                if scene == "tools":
                    facts["places"] = list(looked_up)
            except Exception as error:  # whatever the library throws is what its user sees
                facts = {"thrown": f"{type(error).__name__}: {error}"}
            told = {"client": client, "version": version(package), "upstream": upstream, "scene": scene, **facts}
            print(json.dumps(told), flush=True)


def failures(attempts):
    """What each attempt throws, by its name."""
    seen = {}
    for name, attempt in attempts.items():
        try:
            seen[name] = {"answer": str(attempt())[:500]}
        except Exception as error:
            status = getattr(error, "status_code", None)
            seen[name] = {"type": type(error).__name__, "status": status, "message": str(error)[:500]}
    return {"failures": seen}
