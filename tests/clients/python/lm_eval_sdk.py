# lm-evaluation-harness by its model for chats: a task of two sums, whose data lie beside it.

import json
import os
from pathlib import Path

import lm_eval
from lm_eval.models.openai_completions import LocalChatCompletion

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


@box.check("chat")
def _():
    model = LocalChatCompletion(
        base_url=f"{box.URL}/v1/chat/completions", model=box.MODEL, tokenized_requests=False
    )
    results = lm_eval.simple_evaluate(model, tasks=[task], apply_chat_template=True)
    box.equals(results["results"]["sums"]["exact_match,none"], 1.0)
