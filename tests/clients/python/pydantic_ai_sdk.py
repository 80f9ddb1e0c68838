# Pydantic AI by OpenAI's two APIs and Anthropic's.

import asyncio

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

import checks as box

openai = OpenAIProvider(base_url=f"{box.URL}/v1", api_key="any")
anthropic = AnthropicProvider(base_url=box.URL, api_key="any")


class Person(BaseModel):
    name: str
    age: int


def models(name=box.MODEL):
    return [
        OpenAIChatModel(name, provider=openai),
        OpenAIResponsesModel(name, provider=openai),
        AnthropicModel(name, provider=anthropic),
    ]


def agent(model, **more):
    return Agent(model, model_settings={"temperature": 0, "max_tokens": 200}, **more)


@box.check("chat")
def _():
    for model in models():
        box.says(agent(model).run_sync(box.SUM["question"]).output, box.SUM["answer"])


@box.check("stream")
def _():
    async def stream(model):
        async with agent(model).run_stream(box.SUM["question"]) as result:
            return [piece async for piece in result.stream_text(delta=True, debounce_by=None)]

    for model in models():
        box.says(box.joined(asyncio.run(stream(model))), box.SUM["answer"])


@box.check("tools")
def _():
    def get_weather(city: str) -> str:
        return box.tell_weather({"city": city})

    get_weather.__doc__ = box.WEATHER["description"]
    for model in models():
        told = agent(model, tools=[get_weather]).run_sync(box.WEATHER["question"]).output
        box.says(told, box.WEATHER["told"])


@box.check("schema")
def _():
    # Anthropic's models are looked up in a table of what each can do, where ours is not.
    for model in models()[:2]:
        person = agent(model, output_type=NativeOutput(Person)).run_sync(box.PASSAGE["question"])
        box.equals(person.output.model_dump(), box.PASSAGE["facts"])


@box.check("overflow")
def _():
    for model in models():
        box.refuses_long(lambda: agent(model).run_sync(box.LONG))


@box.check("abort")
def _():
    async def leave(model):
        async with agent(model).run_stream("Hi") as result:
            async for _ in result.stream_text(delta=True, debounce_by=None):
                raise RuntimeError("It has heard enough.")

    box.abandons(lambda: asyncio.run(leave(models(box.ENDLESS)[0])))
