# The openai package: chat completions, responses and completions.

import io
import json
import wave

from openai import BadRequestError, NotFoundError, OpenAI
from pydantic import BaseModel

import checks as box

client = OpenAI(base_url=f"{box.URL}/v1", api_key="any", max_retries=0)
completions = client.chat.completions
common = {"model": box.MODEL, "temperature": 0}


def user(content):
    return [{"role": "user", "content": content}]


class Person(BaseModel):
    name: str
    age: int


@box.check("chat")
def _():
    answer = completions.create(messages=user(box.SUM["question"]), **common)
    box.says(answer.choices[0].message.content, box.SUM["answer"])
    box.equals(answer.choices[0].finish_reason, "stop")
    response = client.responses.create(input=box.SUM["question"], **common)
    box.says(response.output_text, box.SUM["answer"])


def comes_back():
    """Loses the stream of a response in the background, and takes it up again."""
    ask = {"input": box.SUM["question"], "background": True}
    begun = []
    for event in client.responses.create(stream=True, **ask, **common):
        begun.append(event)
        if len(begun) == 5:
            break
    ident, last = begun[0].response.id, begun[-1].sequence_number
    begun += client.responses.retrieve(ident, stream=True, starting_after=last)
    box.equals([event.sequence_number for event in begun], list(range(len(begun))))
    box.says(begun[-1].response.output_text, box.SUM["answer"])
    with client.responses.stream(response_id=ident, starting_after=3) as events:
        box.says(events.get_final_response().output_text, box.SUM["answer"])
    endless = client.responses.create(**{**ask, **common, "model": box.ENDLESS})
    box.equals(endless.status, "queued")
    box.equals(client.responses.cancel(endless.id).status, "cancelled")
    box.equals(client.responses.retrieve(endless.id).status, "cancelled")
    for refused in (
        lambda: client.responses.retrieve(ident, stream=True, starting_after=10_000),
        lambda: client.responses.cancel("resp_none"),
    ):
        try:
            refused()
        except (BadRequestError, NotFoundError):
            continue
        raise AssertionError("what cannot be was not refused")


@box.check("stream")
def _():
    stream = completions.create(messages=user(box.SUM["question"]), stream=True, **common)
    pieces = (chunk.choices[0].delta.content for chunk in stream if chunk.choices)
    box.says(box.joined(pieces), box.SUM["answer"])
    with client.responses.stream(input=box.SUM["question"], **common) as events:
        pieces = (event.delta for event in events if event.type == "response.output_text.delta")
        box.says(box.joined(pieces), box.SUM["answer"])
    comes_back()


@box.check("tools")
def _():
    messages = user(box.WEATHER["question"])
    tools = [box.WEATHER_TOOL]
    choice = completions.create(messages=messages, tools=tools, **common).choices[0]
    box.equals(choice.finish_reason, "tool_calls")
    call = choice.message.tool_calls[0]
    content = box.tell_weather(json.loads(call.function.arguments))
    messages += [choice.message, {"role": "tool", "tool_call_id": call.id, "content": content}]
    told = completions.create(messages=messages, tools=tools, **common).choices[0].message
    box.says(told.content, box.WEATHER["told"])


@box.check("schema")
def _():
    ask = {"messages": user(box.PASSAGE["question"]), "response_format": Person, **common}
    parsed = completions.parse(**ask).choices[0].message.parsed
    box.equals(parsed.model_dump(), box.PASSAGE["facts"])
    response = client.responses.parse(
        input=box.PASSAGE["question"], text_format=Person, **common
    )
    box.equals(response.output_parsed.model_dump(), box.PASSAGE["facts"])


@box.check("overflow")
def _():
    box.refuses_long(lambda: completions.create(messages=user(box.LONG), **common))
    box.refuses_long(lambda: client.responses.create(input=box.LONG, **common))


@box.check("abort")
def _():
    def chat():
        with completions.create(model=box.ENDLESS, messages=user("Hi"), stream=True) as stream:
            next(iter(stream))

    def respond():
        with client.responses.create(model=box.ENDLESS, input="Hi", stream=True) as stream:
            next(iter(stream))

    box.abandons(chat)
    box.abandons(respond)


@box.check("transcribe")
def _():
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(16_000)
        sound.writeframes(bytes(i * i % 251 for i in range(16_000)))
    file = ("noise.wav", buffer.getvalue())
    transcriptions = client.audio.transcriptions
    ask = {"file": file, "model": "whisper", "language": "en"}
    told = transcriptions.create(**ask)
    box.equals((type(told.text), told.usage.seconds), (str, 1))
    verbose = transcriptions.create(
        response_format="verbose_json", timestamp_granularities=["word", "segment"], **ask
    )
    box.equals(verbose.language, "english")
    for part in [*(verbose.words or []), *verbose.segments]:
        assert 0 <= part.start <= part.end, f"from {part.start} to {part.end}"
    events = list(transcriptions.create(stream=True, **ask))
    deltas = [event.delta for event in events if event.type == "transcript.text.delta"]
    box.equals("".join(deltas).strip(), events[-1].text)
    box.equals(events[-1].type, "transcript.text.done")
    english = client.audio.translations.create(file=file, model="whisper")
    box.equals(type(english.text), str)
    box.says(transcriptions.create(response_format="vtt", **ask), "^WEBVTT")
    try:
        transcriptions.create(**{**ask, "file": ("x.mp3", b"no sound")})
    except BadRequestError as error:
        box.says(error.message, "Cannot read the sound")
    else:
        raise AssertionError("a text was taken for a sound")
