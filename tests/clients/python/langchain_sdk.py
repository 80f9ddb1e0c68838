# LangChain by its packages for each of the APIs.

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI

import checks as box


def models(name=box.MODEL):
    openai = {"base_url": f"{box.URL}/v1", "api_key": "any", "max_retries": 0, "temperature": 0}
    anthropic = {"base_url": box.URL, "api_key": "any", "max_retries": 0, "temperature": 0}
    return [
        ChatOllama(model=name, base_url=box.URL, temperature=0),
        ChatOpenAI(model=name, **openai),
        ChatOpenAI(model=name, use_responses_api=True, **openai),
        ChatAnthropic(model=name, max_tokens=200, **anthropic),
    ]


@box.check("chat")
def _():
    for model in models():
        box.says(model.invoke(box.SUM["question"]).text, box.SUM["answer"])


@box.check("stream")
def _():
    for model in models():
        pieces = (chunk.text for chunk in model.stream(box.SUM["question"]))
        box.says(box.joined(pieces), box.SUM["answer"])


@box.check("tools")
def _():
    for model in models():
        bound = model.bind_tools([box.WEATHER_TOOL])
        messages = [HumanMessage(box.WEATHER["question"])]
        called = bound.invoke(messages)
        call = called.tool_calls[0]
        content = box.tell_weather(call["args"])
        messages += [called, ToolMessage(content, tool_call_id=call["id"], name=call["name"])]
        box.says(bound.invoke(messages).text, box.WEATHER["told"])


@box.check("schema")
def _():
    schema = {"title": "person", "description": "A person.", **box.PASSAGE["schema"]}
    for model in models():
        person = model.with_structured_output(schema, method="json_schema")
        box.equals(person.invoke(box.PASSAGE["question"]), box.PASSAGE["facts"])


@box.check("overflow")
def _():
    pattern = r"prompt is (too long|longer)|maximum context length is"
    for model in models():
        box.refuses_long(lambda: model.invoke(box.LONG), pattern)


@box.check("abort")
def _():
    def leave(model):
        stream = model.stream("Hi")
        next(stream)
        stream.close()

    for model in models(box.ENDLESS)[:2]:
        box.abandons(lambda: leave(model))
