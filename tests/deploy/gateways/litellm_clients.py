# The openai and anthropic packages through LiteLLM's proxy, which translates: what comes through it has to
# be what the node says itself. QUERN_URL is the proxy, QUERN_DIRECT a node, QUERN_PICTURE a PNG in base64.
# Prints a line of JSON for each check, as the programs of tests/clients do.

import json
import os

from anthropic import Anthropic
from openai import OpenAI
from pydantic import BaseModel

import checks as box

PICTURE = os.environ["QUERN_PICTURE"]
SEES = "sees"
KEY = os.environ["QUERN_KEY"]
openai = OpenAI(base_url=f"{box.URL}/v1", api_key=KEY, max_retries=0)
anthropic = Anthropic(base_url=box.URL, api_key=KEY, max_retries=0)
direct = OpenAI(base_url=f"{os.environ['QUERN_DIRECT']}/v1", api_key="any", max_retries=0)
asked = {"model": box.MODEL, "temperature": 0}
common = {"model": box.MODEL, "max_tokens": 200, "extra_body": {"temperature": 0}}


def user(content):
    return [{"role": "user", "content": content}]


class Person(BaseModel):
    name: str
    age: int


@box.check("openai: chat")
def _():
    answer = openai.chat.completions.create(messages=user(box.SUM["question"]), **asked)
    box.says(answer.choices[0].message.content, box.SUM["answer"])


@box.check("openai: stream")
def _():
    stream = openai.chat.completions.create(
        messages=user(box.SUM["question"]), stream=True, **asked
    )
    pieces = (chunk.choices[0].delta.content for chunk in stream if chunk.choices)
    box.says(box.joined(pieces), box.SUM["answer"])


@box.check("openai: tools")
def _():
    messages = user(box.WEATHER["question"])
    tools = [box.WEATHER_TOOL]
    choice = openai.chat.completions.create(messages=messages, tools=tools, **asked).choices[0]
    box.equals(choice.finish_reason, "tool_calls")
    call = choice.message.tool_calls[0]
    content = box.tell_weather(json.loads(call.function.arguments))
    messages += [choice.message, {"role": "tool", "tool_call_id": call.id, "content": content}]
    told = openai.chat.completions.create(messages=messages, tools=tools, **asked)
    box.says(told.choices[0].message.content, box.WEATHER["told"])


@box.check("openai: tools in a stream")
def _():
    stream = openai.chat.completions.create(
        messages=user(box.WEATHER["question"]), tools=[box.WEATHER_TOOL], stream=True, **asked
    )
    deltas = [chunk.choices[0].delta for chunk in stream if chunk.choices]
    calls = [call for delta in deltas for call in delta.tool_calls or []]
    box.tell_weather(json.loads("".join(call.function.arguments or "" for call in calls)))


@box.check("openai: schema")
def _():
    ask = {"messages": user(box.PASSAGE["question"]), "response_format": Person, **asked}
    parsed = openai.chat.completions.parse(**ask).choices[0].message.parsed
    box.equals(parsed.model_dump(), box.PASSAGE["facts"])


@box.check("openai: responses")
def _():
    response = openai.responses.create(input=box.SUM["question"], **asked)
    box.says(response.output_text, box.SUM["answer"])
    parsed = openai.responses.parse(input=box.PASSAGE["question"], text_format=Person, **asked)
    box.equals(parsed.output_parsed.model_dump(), box.PASSAGE["facts"])


def same_answer(answer, expected):
    box.equals(answer.usage.prompt_tokens, expected.usage.prompt_tokens)
    box.equals(answer.choices[0].message.content, expected.choices[0].message.content)


@box.check("openai: images")
def _():
    url = {"url": f"data:image/png;base64,{PICTURE}"}
    parts = [{"type": "image_url", "image_url": url}, {"type": "text", "text": "Which?"}]
    ask = {"model": SEES, "temperature": 0, "max_tokens": 20, "messages": user(parts)}
    same_answer(openai.chat.completions.create(**ask), direct.chat.completions.create(**ask))


@box.check("openai: embeddings")
def _():
    ask = {"model": box.MODEL, "input": "How do I pull a model?", "encoding_format": "float"}
    expected = direct.embeddings.create(**ask).data[0].embedding
    box.equals(openai.embeddings.create(**ask).data[0].embedding, expected)


@box.check("openai: a prompt that is too long")
def _():
    box.refuses_long(
        lambda: openai.chat.completions.create(messages=user(box.LONG), **asked)
    )


@box.check("anthropic: chat")
def _():
    answer = anthropic.messages.create(messages=user(box.SUM["question"]), **common)
    box.says(answer.content[0].text, box.SUM["answer"])
    box.equals(answer.stop_reason, "end_turn")


@box.check("anthropic: stream")
def _():
    with anthropic.messages.stream(messages=user(box.SUM["question"]), **common) as stream:
        box.says(box.joined(stream.text_stream), box.SUM["answer"])


@box.check("anthropic: tools")
def _():
    weather = box.WEATHER
    tool = {"name": weather["name"], "description": weather["description"]}
    tools = [{**tool, "input_schema": weather["parameters"]}]
    messages = user(weather["question"])
    answer = anthropic.messages.create(messages=messages, tools=tools, **common)
    box.equals(answer.stop_reason, "tool_use")
    call = next(block for block in answer.content if block.type == "tool_use")
    result = {"type": "tool_result", "tool_use_id": call.id}
    messages += [
        {"role": "assistant", "content": answer.content},
        {"role": "user", "content": [{**result, "content": box.tell_weather(call.input)}]},
    ]
    told = anthropic.messages.create(messages=messages, tools=tools, **common)
    box.says(told.content[0].text, weather["told"])


@box.check("anthropic: schema")
def _():
    output_config = {"format": {"type": "json_schema", "schema": box.PASSAGE["schema"]}}
    answer = anthropic.messages.create(
        messages=user(box.PASSAGE["question"]), output_config=output_config, **common
    )
    box.equals(json.loads(answer.content[0].text), box.PASSAGE["facts"])


@box.check("anthropic: images")
def _():
    source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
    content = [{"type": "image", "source": source}, {"type": "text", "text": "Which?"}]
    ask = {**common, "model": SEES, "max_tokens": 20, "messages": user(content)}
    node = Anthropic(base_url=os.environ["QUERN_DIRECT"], api_key="any", max_retries=0)
    answer, expected = anthropic.messages.create(**ask), node.messages.create(**ask)
    box.equals(answer.content[0].text, expected.content[0].text)
