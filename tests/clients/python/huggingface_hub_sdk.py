# huggingface_hub's InferenceClient, with a server of one's own.

import json

from huggingface_hub import InferenceClient

import checks as box

client = InferenceClient(base_url=f"{box.URL}/v1", api_key="any")
common = {"model": box.MODEL, "temperature": 0}


def user(content):
    return [{"role": "user", "content": content}]


@box.check("chat")
def _():
    answer = client.chat_completion(user(box.SUM["question"]), **common)
    box.says(answer.choices[0].message.content, box.SUM["answer"])
    # As it asks a server of Text Embeddings Inference.
    vectors = client.feature_extraction("one text", model=f"{box.URL}/embed?model={box.MODEL}")
    box.equals(len(vectors.shape), 2)


@box.check("stream")
def _():
    stream = client.chat_completion(user(box.SUM["question"]), stream=True, **common)
    pieces = (chunk.choices[0].delta.content for chunk in stream if chunk.choices)
    box.says(box.joined(pieces), box.SUM["answer"])


@box.check("tools")
def _():
    messages = user(box.WEATHER["question"])
    tools = [box.WEATHER_TOOL]
    message = client.chat_completion(messages, tools=tools, **common).choices[0].message
    call = message.tool_calls[0]
    content = box.tell_weather(json.loads(call.function.arguments))
    function = {"name": call.function.name, "arguments": call.function.arguments}
    messages += [
        {
            "role": "assistant",
            "content": message.content,
            "tool_calls": [{"id": call.id, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": call.id, "content": content},
    ]
    told = client.chat_completion(messages, tools=tools, **common).choices[0].message.content
    box.says(told, box.WEATHER["told"])


@box.check("schema")
def _():
    schema = {"name": "person", "schema": box.PASSAGE["schema"], "strict": True}
    response_format = {"type": "json_schema", "json_schema": schema}
    ask = {"response_format": response_format, **common}
    answer = client.chat_completion(user(box.PASSAGE["question"]), **ask)
    box.equals(json.loads(answer.choices[0].message.content), box.PASSAGE["facts"])


@box.check("overflow")
def _():
    box.refuses_long(lambda: client.chat_completion(user(box.LONG), **common))


@box.check("abort")
def _():
    def leave():
        stream = client.chat_completion(user("Hi"), model=box.ENDLESS, stream=True)
        next(iter(stream))
        stream.close()

    box.abandons(leave)
