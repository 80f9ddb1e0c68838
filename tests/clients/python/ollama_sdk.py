# The ollama package.

import json

from ollama import Client

import checks as box

client = Client(host=box.URL)
common = {"model": box.MODEL, "options": {"temperature": 0}}


def user(content):
    return [{"role": "user", "content": content}]


@box.check("chat")
def _():
    answer = client.chat(messages=user(box.SUM["question"]), **common)
    box.says(answer.message.content, box.SUM["answer"])
    box.equals(answer.done_reason, "stop")
    generated = client.generate(prompt=box.SUM["question"], **common)
    box.says(generated.response, box.SUM["answer"])


@box.check("stream")
def _():
    stream = client.chat(messages=user(box.SUM["question"]), stream=True, **common)
    box.says(box.joined(part.message.content for part in stream), box.SUM["answer"])


@box.check("tools")
def _():
    messages = user(box.WEATHER["question"])
    tools = [box.WEATHER_TOOL]
    message = client.chat(messages=messages, tools=tools, **common).message
    call = message.tool_calls[0].function
    result = {"role": "tool", "tool_name": call.name}
    messages += [message, {**result, "content": box.tell_weather(dict(call.arguments))}]
    told = client.chat(messages=messages, tools=tools, **common).message.content
    box.says(told, box.WEATHER["told"])


@box.check("schema")
def _():
    ask = {"messages": user(box.PASSAGE["question"]), "format": box.PASSAGE["schema"]}
    answer = client.chat(**ask, **common)
    box.equals(json.loads(answer.message.content), box.PASSAGE["facts"])


@box.check("overflow")
def _():
    pattern = r"prompt is (too long|longer)"
    box.refuses_long(lambda: client.chat(messages=user(box.LONG), **common), pattern)


@box.check("abort")
def _():
    def leave():
        stream = client.chat(model=box.ENDLESS, messages=user("Hi"), stream=True)
        next(stream)
        stream.close()

    box.abandons(leave)
