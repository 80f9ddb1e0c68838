# smolagents: its models, for the prompts of its agents are longer than the window of the model in the
# box.

import json

from smolagents import OpenAIModel, Tool

import checks as box

common = {"api_base": f"{box.URL}/v1", "api_key": "any", "temperature": 0}
model = OpenAIModel(model_id=box.MODEL, **common)


def user(text):
    return [{"role": "user", "content": [{"type": "text", "text": text}]}]


class GetWeather(Tool):
    name = box.WEATHER["name"]
    description = box.WEATHER["description"]
    inputs = {"city": {"type": "string", "description": "City"}}
    output_type = "string"

    def forward(self, city: str) -> str:
        return box.tell_weather({"city": city})


@box.check("chat")
def _():
    box.says(model.generate(user(box.SUM["question"])).content, box.SUM["answer"])


@box.check("stream")
def _():
    pieces = (delta.content for delta in model.generate_stream(user(box.SUM["question"])))
    box.says(box.joined(pieces), box.SUM["answer"])


@box.check("tools")
def _():
    # It asks for `tool_choice: required`.
    message = model.generate(user(box.WEATHER["question"]), tools_to_call_from=[GetWeather()])
    call = message.tool_calls[0].function
    box.equals(call.name, box.WEATHER["name"])
    arguments = call.arguments
    box.tell_weather(json.loads(arguments) if isinstance(arguments, str) else arguments)


@box.check("schema")
def _():
    schema = {"name": "person", "schema": box.PASSAGE["schema"], "strict": True}
    response_format = {"type": "json_schema", "json_schema": schema}
    answer = model.generate(user(box.PASSAGE["question"]), response_format=response_format)
    box.equals(json.loads(answer.content), box.PASSAGE["facts"])


@box.check("overflow")
def _():
    box.refuses_long(lambda: model.generate(user(box.LONG)))


@box.check("abort")
def _():
    def leave():
        stream = OpenAIModel(model_id=box.ENDLESS, **common).generate_stream(user("Hi"))
        next(stream)
        stream.close()

    box.abandons(leave)
