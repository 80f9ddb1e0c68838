# lm-evaluation-harness: a task of two sums by its model for chats, and one of choices by its model for
# completions, which reads how likely each choice is after its question. Their data lie beside them.

import json
import os
from pathlib import Path

import lm_eval
import requests
from lm_eval.models.openai_completions import LocalChatCompletion, LocalCompletionsAPI

import checks as box

folder = Path(os.environ["HOME"]) / "task"
folder.mkdir()
questions = [(27, 45), (31, 56)]
rows = [{"q": f"What is {a} + {b}?", "a": f"= {a + b}."} for a, b in questions]
(folder / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
task = {
    "task": "sums",
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": {"test": str(folder / "sums.jsonl")}},
    "output_type": "generate_until",
    "test_split": "test",
    "doc_to_text": "{{q}}",
    "doc_to_target": "{{a}}",
    "generation_kwargs": {"until": ["\n\n"], "max_gen_toks": 100, "temperature": 0},
    "metric_list": [{"metric": "exact_match", "regexes_to_ignore": ["^.*(?== )"]}],
}


choices = {
    "task": "choices",
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": {"test": str(folder / "choices.jsonl")}},
    "output_type": "multiple_choice",
    "test_split": "test",
    "doc_to_text": "The three words are: {{q}} {{q}} {{q}} {{q}}",
    "doc_to_choice": "{{choices}}",
    "doc_to_target": "{{answer}}",
    "metric_list": [{"metric": "acc"}],
}
words = ["red", "blue", "green", "gold"]
(folder / "choices.jsonl").write_text("".join(
    json.dumps({"q": word, "choices": words, "answer": at}) + "\n" for at, word in enumerate(words)
))


class ServersTokenizer:
    """The tokenizer of the model, which the server runs."""

    eos_token = ""

    def encode(self, text):
        body = {"content": text, "model": box.MODEL}
        return requests.post(f"{box.URL}/tokenize", json=body, timeout=60).json()["tokens"]


@box.check("chat")
def _():
    model = LocalChatCompletion(
        base_url=f"{box.URL}/v1/chat/completions", model=box.MODEL, tokenized_requests=False
    )
    results = lm_eval.simple_evaluate(model, tasks=[task], apply_chat_template=True)
    box.equals(results["results"]["sums"]["exact_match,none"], 1.0)
    model = LocalCompletionsAPI(
        base_url=f"{box.URL}/v1/completions", model=box.MODEL, tokenizer_backend=None
    )
    model.tokenizer, model.tokenizer_backend, model.tokenized_requests = ServersTokenizer(), "own", True
    results = lm_eval.simple_evaluate(model, tasks=[choices])
    box.equals(results["results"]["choices"]["acc,none"], 1.0)
