# Instructor, which makes objects of answers, by each way in which it asks for one.

import anthropic
import instructor
from openai import OpenAI
from pydantic import BaseModel

import checks as box


class Person(BaseModel):
    name: str
    age: int


openai = OpenAI(base_url=f"{box.URL}/v1", api_key="any", max_retries=0)
clients = {
    "JSON_SCHEMA": instructor.from_openai(openai, mode=instructor.Mode.JSON_SCHEMA),
    "TOOLS": instructor.from_openai(openai, mode=instructor.Mode.TOOLS),
    "TOOLS_STRICT": instructor.from_openai(openai, mode=instructor.Mode.TOOLS_STRICT),
    "ANTHROPIC_TOOLS": instructor.from_anthropic(
        anthropic.Anthropic(base_url=box.URL, api_key="any", max_retries=0),
        mode=instructor.Mode.ANTHROPIC_TOOLS,
    ),
}


@box.check("schema")
def _():
    for name, client in clients.items():
        person = client.chat.completions.create(
            model=box.MODEL,
            max_tokens=200,
            extra_body={"temperature": 0},
            max_retries=0,
            response_model=Person,
            messages=[{"role": "user", "content": box.PASSAGE["question"]}],
        )
        if name == "JSON_SCHEMA":
            box.equals(person.model_dump(), box.PASSAGE["facts"])
        else:
            # The model has not learnt this tool: that it fits is all there is to ask for.
            assert isinstance(person, Person), name


@box.check("overflow")
def _():
    client = clients["JSON_SCHEMA"]
    messages = [{"role": "user", "content": box.LONG}]
    ask = {"model": box.MODEL, "max_retries": 0, "response_model": Person, "messages": messages}
    box.refuses_long(lambda: client.chat.completions.create(**ask))
