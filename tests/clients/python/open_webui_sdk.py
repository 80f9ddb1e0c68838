# Open WebUI as a server of its own, with this one behind it by both of the APIs that it knows.

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import requests

import checks as box

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
web = f"http://127.0.0.1:{port}"
home = os.environ["HOME"]
environment = {
    "WEBUI_AUTH": "False",
    "WEBUI_SECRET_KEY": "any",
    "OLLAMA_BASE_URL": box.URL,
    "OPENAI_API_BASE_URL": f"{box.URL}/v1",
    "OPENAI_API_KEY": "any",
    # The models of both are told apart by this.
    "OPENAI_API_CONFIGS": json.dumps({"0": {"prefix_id": "v1"}}),
    # It would fetch a model from a hub for its documents.
    "RAG_EMBEDDING_ENGINE": "ollama",
    "OFFLINE_MODE": "True",
    "DATA_DIR": home,
    
}
program = [str(Path(sys.executable).parent / "open-webui"), "serve", "--port", str(port)]
log = open(f"{home}/log", "w")
process = subprocess.Popen(program, env={**os.environ, **environment}, stdout=log, stderr=log)
session = requests.Session()


def request(method, path, **more):
    response = session.request(method, web + path, timeout=60, **more)
    assert response.ok, f"{path}: {response.status_code} {response.text[:500]}"
    return response


def sign_in():
    for _ in range(150):
        assert process.poll() is None, Path(f"{home}/log").read_text()[-1000:]
        try:
            answer = request("POST", "/api/v1/auths/signin", json={"email": "", "password": ""})
            session.headers["Authorization"] = f"Bearer {answer.json()['token']}"
            return
        except (requests.ConnectionError, AssertionError):
            time.sleep(1)
    raise AssertionError(f"it does not listen: {Path(f'{home}/log').read_text()[-1000:]}")


def chat(model, **more):
    messages = [{"role": "user", "content": box.SUM["question"]}]
    body = {"model": model, "messages": messages, "temperature": 0, **more}
    return request("POST", "/api/chat/completions", json=body)


try:
    models = []

    @box.check("chat")
    def _():
        sign_in()
        listed = [model["id"] for model in request("GET", "/api/models").json()["data"]]
        models.extend(name for name in listed if name.endswith(box.MODEL))
        assert len(models) > 0, listed
        for model in models:
            content = chat(model, stream=False).json()["choices"][0]["message"]["content"]
            box.says(content, box.SUM["answer"])

    @box.check("stream")
    def _():
        for model in models:
            lines = chat(model, stream=True).text.splitlines()
            rows = [line[6:] for line in lines if line.startswith("data: {")]
            chunks = [json.loads(row) for row in rows]
            deltas = [chunk["choices"][0]["delta"] for chunk in chunks if chunk.get("choices")]
            box.says(box.joined(delta.get("content") for delta in deltas), box.SUM["answer"])
finally:
    process.terminate()
