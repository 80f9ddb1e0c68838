# LiteLLM by each provider that a local server is reached with.

import json

import litellm

import checks as box

litellm.suppress_debug_info = True
PROVIDERS = {
    "ollama_chat": box.URL,
    "openai": f"{box.URL}/v1",
    "hosted_vllm": f"{box.URL}/v1",
    "anthropic": box.URL,
}


def ask(provider, content, model=box.MODEL, **more):
    return litellm.completion(
        model=f"{provider}/{model}",
        api_base=PROVIDERS[provider],
        api_key="any",
        messages=content if isinstance(content, list) else [{"role": "user", "content": content}],
        temperature=0,
        max_retries=0,
        **more,
    )


def each(attempt):
    """Runs an attempt with every provider, and names the one that failed."""
    for provider in PROVIDERS:
        try:
            attempt(provider)
        except Exception as error:
            raise AssertionError(f"{provider}: {type(error).__name__}: {error}") from error


@box.check("chat")
def _():
    @each
    def _(provider):
        answer = ask(provider, box.SUM["question"])
        box.says(answer.choices[0].message.content, box.SUM["answer"])


@box.check("stream")
def _():
    @each
    def _(provider):
        stream = ask(provider, box.SUM["question"], stream=True)
        pieces = (chunk.choices[0].delta.content for chunk in stream)
        box.says(box.joined(pieces), box.SUM["answer"])


@box.check("tools")
def _():
    @each
    def _(provider):
        messages = [{"role": "user", "content": box.WEATHER["question"]}]
        tools = [box.WEATHER_TOOL]
        message = ask(provider, messages, tools=tools).choices[0].message
        call = message.tool_calls[0]
        content = box.tell_weather(json.loads(call.function.arguments))
        messages += [message, {"role": "tool", "tool_call_id": call.id, "content": content}]
        told = ask(provider, messages, tools=tools).choices[0].message.content
        box.says(told, box.WEATHER["told"])


@box.check("schema")
def _():
    schema = {"name": "person", "schema": box.PASSAGE["schema"], "strict": True}

    @each
    def _(provider):
        response_format = {"type": "json_schema", "json_schema": schema}
        answer = ask(provider, box.PASSAGE["question"], response_format=response_format)
        box.equals(json.loads(answer.choices[0].message.content), box.PASSAGE["facts"])


@box.check("overflow")
def _():
    # By this error a router goes to a model with a larger window.
    @each
    def _(provider):
        try:
            ask(provider, box.LONG)
        except litellm.ContextWindowExceededError:
            return
        except litellm.BadRequestError as error:
            # Its provider for Ollama knows no errors of windows.
            assert provider == "ollama_chat", error
            box.says(str(error), r"prompt is (too long|longer)")
            return
        raise AssertionError("it was not refused")


@box.check("abort")
def _():
    @each
    def _(provider):
        def leave():
            stream = ask(provider, "Hi", model=box.ENDLESS, stream=True, max_tokens=2000)
            next(iter(stream))
            stream.completion_stream.close()

        # Of the others it keeps the connection in an object of its own.
        if provider in ("openai", "hosted_vllm"):
            box.abandons(leave)
