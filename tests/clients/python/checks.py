# What the programs that try a Python library share, as ../libraries/checks.ts is for Node: a line of
# JSON to standard output tells each result. What the model in the box is asked, and has to answer,
# comes as JSON in QUERN_TALK, from tests/server/box_talk.ts.

import json
import os
import re

URL = os.environ["QUERN_URL"]
TALK = json.loads(os.environ["QUERN_TALK"])
MODEL = TALK["model"]
WEATHER = TALK["weather"]
WEATHER_TOOL = TALK["weatherTool"]
SUM = TALK["sum"]
PASSAGE = TALK["passage"]
# A model that never ends its answer.
ENDLESS = "endless"
# A text that is longer than the window of the model in the box.
LONG = "How do I pull a model? " * 400

_abandoned = 0


def check(name):
    """Tries one thing, which is the decorated function, and tells what came of it."""

    def run(attempt):
        failure = None
        try:
            attempt()
        except BaseException as error:
            failure = f"{type(error).__name__}: {error}"
        print(json.dumps({"check": name, "failure": failure, "abandoned": _abandoned}), flush=True)

    return run


def says(text, expected):
    """Holds an answer against the pattern that it has to match."""
    assert re.search(expected, str(text)), f"{text!r} does not match {expected}"


def equals(value, expected):
    assert value == expected, f"{value!r} is not {expected!r}"


def joined(pieces):
    """The pieces of a stream as one text. There have to be several."""
    texts = [piece for piece in pieces if piece]
    assert len(texts) > 2, f"the stream had {len(texts)} pieces: {texts!r}"
    return "".join(texts)


def tell_weather(arguments):
    """The tool: what it is given is held against the question."""
    equals(arguments, WEATHER["arguments"])
    return WEATHER["result"]


def refuses_long(attempt, pattern=r"maximum context length is|prompt is too long"):
    """Expects that something is refused since it is too long, in words by which clients know that."""
    try:
        attempt()
    except Exception as error:
        parts = []
        while error is not None:
            parts += [str(error), str(getattr(error, "body", ""))]
            error = error.__cause__ or error.__context__
        says(" ".join(parts), pattern)
    else:
        raise AssertionError("it was not refused")


def abandons(attempt):
    """Goes away in the midst of an answer. Whether the server stopped is for its log to say."""
    global _abandoned
    _abandoned += 1
    try:
        attempt()
    except Exception:
        pass
