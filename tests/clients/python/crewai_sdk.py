# CrewAI's language models, by its own client for servers like OpenAI's.

import json

from crewai import LLM
from pydantic import BaseModel

import checks as box


class Person(BaseModel):
    name: str
    age: int


def model(**more):
    common = {"base_url": f"{box.URL}/v1", "api_key": "any", "temperature": 0}
    return LLM(model=f"openai/{box.MODEL}", **common, **more)


@box.check("chat")
def _():
    box.says(model().call(box.SUM["question"]), box.SUM["answer"])


@box.check("schema")
def _():
    answer = model(response_format=Person).call(box.PASSAGE["question"])
    facts = answer.model_dump() if isinstance(answer, Person) else json.loads(answer)
    box.equals(facts, box.PASSAGE["facts"])


@box.check("overflow")
def _():
    pattern = r"maximum context length is|context.*exceed"
    box.refuses_long(lambda: model().call(box.LONG), pattern)
