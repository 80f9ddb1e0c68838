# The anthropic package.

import json

from anthropic import Anthropic
from pydantic import BaseModel

import checks as box

messages_api = Anthropic(base_url=box.URL, api_key="any", max_retries=0).messages
# Newer versions of the package have no temperature of their own.
common = {"model": box.MODEL, "max_tokens": 200, "extra_body": {"temperature": 0}}


def user(content):
    return [{"role": "user", "content": content}]


class Person(BaseModel):
    name: str
    age: int


@box.check("chat")
def _():
    answer = messages_api.create(messages=user(box.SUM["question"]), **common)
    box.says(answer.content[0].text, box.SUM["answer"])
    box.equals(answer.stop_reason, "end_turn")


@box.check("stream")
def _():
    with messages_api.stream(messages=user(box.SUM["question"]), **common) as stream:
        box.says(box.joined(stream.text_stream), box.SUM["answer"])


@box.check("tools")
def _():
    weather = box.WEATHER
    tool = {"name": weather["name"], "description": weather["description"]}
    tools = [{**tool, "input_schema": weather["parameters"]}]
    messages = user(weather["question"])
    answer = messages_api.create(messages=messages, tools=tools, **common)
    box.equals(answer.stop_reason, "tool_use")
    call = next(block for block in answer.content if block.type == "tool_use")
    result = {"type": "tool_result", "tool_use_id": call.id}
    messages += [
        {"role": "assistant", "content": answer.content},
        {"role": "user", "content": [{**result, "content": box.tell_weather(call.input)}]},
    ]
    told = messages_api.create(messages=messages, tools=tools, **common)
    box.says(told.content[0].text, weather["told"])


@box.check("schema")
def _():
    ask = {"messages": user(box.PASSAGE["question"]), **common}
    output_config = {"format": {"type": "json_schema", "schema": box.PASSAGE["schema"]}}
    answer = messages_api.create(output_config=output_config, **ask)
    box.equals(json.loads(answer.content[0].text), box.PASSAGE["facts"])
    parsed = messages_api.parse(output_format=Person, **ask)
    box.equals(parsed.parsed_output.model_dump(), box.PASSAGE["facts"])


@box.check("overflow")
def _():
    box.refuses_long(lambda: messages_api.create(messages=user(box.LONG), **common))


@box.check("abort")
def _():
    def leave():
        ask = {"model": box.ENDLESS, "max_tokens": 2000, "messages": user("Hi")}
        with messages_api.stream(**ask) as stream:
            next(iter(stream.text_stream))

    box.abandons(leave)
