# OpenAI's Agents SDK, by each of the two APIs that it knows.

import asyncio

from agents import Agent, ModelSettings, Runner, function_tool, set_tracing_disabled
from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
from agents.models.openai_responses import OpenAIResponsesModel
from openai import AsyncOpenAI
from pydantic import BaseModel

import checks as box

set_tracing_disabled(True)


class Person(BaseModel):
    name: str
    age: int


def agents(name=box.MODEL, **more):
    for model in (OpenAIChatCompletionsModel, OpenAIResponsesModel):
        client = AsyncOpenAI(base_url=f"{box.URL}/v1", api_key="any", max_retries=0)
        settings = ModelSettings(temperature=0)
        yield Agent(
            name="Quern", model=model(name, openai_client=client), model_settings=settings, **more
        )


@box.check("chat")
def _():
    for agent in agents():
        box.says(Runner.run_sync(agent, box.SUM["question"]).final_output, box.SUM["answer"])


@box.check("stream")
def _():
    async def stream(agent):
        events = Runner.run_streamed(agent, box.SUM["question"]).stream_events()
        raw = [event.data async for event in events if event.type == "raw_response_event"]
        return [data.delta for data in raw if data.type == "response.output_text.delta"]

    for agent in agents():
        box.says(box.joined(asyncio.run(stream(agent))), box.SUM["answer"])


@box.check("tools")
def _():
    @function_tool(description_override=box.WEATHER["description"])
    def get_weather(city: str) -> str:
        return box.tell_weather({"city": city})

    for agent in agents(tools=[get_weather]):
        told = Runner.run_sync(agent, box.WEATHER["question"]).final_output
        box.says(told, box.WEATHER["told"])


@box.check("schema")
def _():
    for agent in agents(output_type=Person):
        person = Runner.run_sync(agent, box.PASSAGE["question"]).final_output
        box.equals(person.model_dump(), box.PASSAGE["facts"])


@box.check("overflow")
def _():
    for agent in agents():
        box.refuses_long(lambda: Runner.run_sync(agent, box.LONG))


@box.check("abort")
def _():
    async def leave(agent):
        result = Runner.run_streamed(agent, "Hi")
        async for event in result.stream_events():
            if event.type == "raw_response_event":
                result.cancel()

    for agent in agents(box.ENDLESS):
        box.abandons(lambda: asyncio.run(leave(agent)))
