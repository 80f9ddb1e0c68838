# DSPy. Its prompts are long and not what the model in the box has learnt, so that its answers are
# held to their form alone.

import dspy
import litellm

import checks as box

litellm.suppress_debug_info = True


class Served(dspy.LM):
    """A model that takes schemas. DSPy looks that up in a table of models, where ours is not."""

    supports_response_schema = True
    supported_params = {"temperature", "max_tokens", "response_format"}


def model(name=box.MODEL, **more):
    ask = {"api_base": f"{box.URL}/v1", "api_key": "any", "cache": False, "num_retries": 0}
    return Served(f"openai/{name}", temperature=0, **ask, **more)


@box.check("chat")
def _():
    (answer,) = model()(box.SUM["question"])
    box.says(answer, box.SUM["answer"])


@box.check("schema")
def _():
    class Facts(dspy.Signature):
        text: str = dspy.InputField()
        name: str = dspy.OutputField()
        age: int = dspy.OutputField()

    with dspy.context(lm=model(max_tokens=300), adapter=dspy.JSONAdapter()):
        facts = dspy.Predict(Facts)(text="Nora Weber is 34 years old and lives in Rome.")
    assert isinstance(facts.name, str) and isinstance(facts.age, int), facts


@box.check("overflow")
def _():
    box.refuses_long(lambda: model()(box.LONG))
