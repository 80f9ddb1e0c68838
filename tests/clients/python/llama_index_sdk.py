# LlamaIndex by its packages for Ollama and for servers like OpenAI's.

from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.ollama import Ollama
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel

import checks as box


class Person(BaseModel):
    name: str
    age: int


def models(name=box.MODEL):
    like = {"is_chat_model": True, "is_function_calling_model": True, "max_retries": 0}
    return [
        Ollama(model=name, base_url=box.URL, temperature=0, context_window=2048),
        OpenAILike(model=name, api_base=f"{box.URL}/v1", api_key="any", temperature=0, **like),
    ]


def user(content):
    return [ChatMessage(role="user", content=content)]


@box.check("chat")
def _():
    for model in models():
        answer = model.chat(user(box.SUM["question"]))
        box.says(answer.message.content, box.SUM["answer"])


@box.check("stream")
def _():
    for model in models():
        pieces = (part.delta for part in model.stream_chat(user(box.SUM["question"])))
        box.says(box.joined(pieces), box.SUM["answer"])


@box.check("tools")
def _():
    def get_weather(city: str) -> str:
        return box.tell_weather({"city": city})

    tool = FunctionTool.from_defaults(get_weather, description=box.WEATHER["description"])
    for model in models():
        question = box.WEATHER["question"]
        answer = model.chat_with_tools([tool], user_msg=question)
        (call,) = model.get_tool_calls_from_response(answer)
        content = box.tell_weather(call.tool_kwargs)
        result = {"name": call.tool_name, "tool_call_id": call.tool_id}
        history = [
            *user(question),
            answer.message,
            ChatMessage(role="tool", content=content, additional_kwargs=result),
        ]
        told = model.chat_with_tools([tool], chat_history=history)
        box.says(told.message.content, box.WEATHER["told"])


@box.check("schema")
def _():
    # The other one asks by a tool, which the model has not learnt.
    person = models()[0].as_structured_llm(Person).chat(user(box.PASSAGE["question"])).raw
    box.equals(person.model_dump(), box.PASSAGE["facts"])


@box.check("overflow")
def _():
    pattern = r"prompt is (too long|longer)|maximum context length is"
    for model in models():
        box.refuses_long(lambda: model.chat(user(box.LONG)), pattern)


@box.check("abort")
def _():
    def leave(model):
        stream = model.stream_chat(user("Hi"))
        next(stream)
        stream.close()

    box.abandons(lambda: leave(models(box.ENDLESS)[1]))
