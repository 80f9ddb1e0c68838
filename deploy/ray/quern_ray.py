"""Quern under Ray Serve: a deployment for each model, whose replicas each run one Quern.

Ray starts, counts, watches and replaces replicas and routes requests to them; its own
PrefixCacheAffinityRouter sends requests with a common prefix to the replica that has it. What is here
starts a process, passes requests through without looking at answers, and repeats a request that was lost
before its first byte. Started by `serve run quern_ray:build config...`; see README.md.
"""

import asyncio
import ctypes
import json
import os
import signal
import socket
import subprocess
from dataclasses import dataclass
from typing import AsyncIterator, Optional, Union

import httpx
from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict, Field
from ray import serve
from ray.llm._internal.serve.routing_policies.prefix_aware.prefix_aware_router import (
    PrefixCacheAffinityRouter,
)
from ray.exceptions import RayActorError, RayTaskError
from ray.serve.config import (
    AutoscalingConfig,
    AutoscalingContext,
    AutoscalingPolicy,
    RequestRouterConfig,
)
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError
from ray.serve.handle import DeploymentHandle
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

# Headers that belong to one connection, or that the next server writes anew.
HOP_HEADERS = {
    "connection", "content-length", "date", "host", "keep-alive", "server", "te", "trailer",
    "transfer-encoding", "upgrade",
}


# The header by which Quern tells its load in its answer, in the form of ORCA.
ASKS_FOR_LOAD = {"endpoint-load-metrics-format": "JSON"}
# The name of a replica's tokens among Ray's figures.
TOKENS = "tokens"


class PrefixRouter(PrefixCacheAffinityRouter):
    """Ray's router by prefixes, which must not wait for replicas of a former deployment.

    Its tree outlives a deployment. Where it names a replica that has gone, Ray 2.60 raises KeyError and
    the request hangs; here the tree forgets the replica and the shorter of two queues is taken.
    """

    async def _prefix_match_best_replicas(self, pending_request, candidate_replicas):
        try:
            return await super()._prefix_match_best_replicas(pending_request, candidate_replicas)
        except KeyError as unknown:
            gone = unknown.args[0].to_full_id_str()
            await self._tree_actor.remove_tenants.remote([gone])
            return [[]]


class Strict(BaseModel):
    """Configuration in which a misspelt member is an error."""

    model_config = ConfigDict(extra="forbid")


class Model(Strict):
    """A model and its replicas."""

    name: str = Field(description='What clients call it, such as "qwen3:8b".')
    min_replicas: int = Field(1, ge=0, description="0: none while nobody asks.")
    max_replicas: int = Field(1, ge=1)
    requests_per_replica: int = Field(
        4, ge=1, description="Requests at a time for which Ray adds a replica beyond; "
        "Quern answers as many at once (OLLAMA_NUM_PARALLEL).",
    )
    tokens_per_replica: Optional[int] = Field(
        None, ge=1, description="Tokens, of what a replica answers and of prompts that wait in it, for "
        "which Ray adds a replica beyond: long prompts are more work than short ones.",
    )
    queued_per_replica: int = Field(32, ge=1, description="Most requests that one replica takes.")
    cpus: float = Field(1, gt=0, description="CPUs that Ray reserves, and threads that compute.")
    gpus: float = Field(0, ge=0)
    downscale_delay: float = Field(60, ge=0, description="Seconds before a replica goes.")
    env: dict[str, str] = Field({}, description="Further variables, such as OLLAMA_CONTEXT_LENGTH.")


class Config(Strict):
    """The application: `serve run quern_ray:build` reads it from a YAML file."""

    models: list[Model] = Field(min_length=1)
    program: list[str] = Field(
        ["quern"], min_length=1, description='How Quern is started, without "serve".'
    )
    routing: str = Field("prefix", pattern="^(prefix|balanced)$")
    imbalance: int = Field(
        8, ge=1, description="Requests by which the fullest replica may exceed the emptiest one "
        "before the shorter queue counts more than a common prefix.",
    )
    attempts: int = Field(6, ge=1, description="How often a request that was lost is sent.")


@dataclass
class Forwarded:
    """A request on its way to a replica."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes
    # By this name Ray's router finds the text by whose prefix it chooses. It must not be empty.
    prompt: str


@dataclass
class Head:
    """What an answer begins with."""

    status: int
    headers: list[tuple[str, str]]


class ReplicaLost(Exception):
    """The Quern of a replica has ended, or does not answer any more."""


def _die_with_parent() -> None:
    """Has the system kill this process when Ray's worker dies, however it does."""
    if os.uname().sysname == "Linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _tokens_of(answer: httpx.Response) -> float:
    """The tokens that run and wait in the Quern that gave this answer."""
    load = json.loads(answer.headers["endpoint-load-metrics"].removeprefix("JSON "))
    metrics = load["named_metrics"]
    return metrics["num_tokens_running"] + metrics["num_tokens_waiting"]


class ScaleByTokens:
    """Says how many replicas there should be: by requests, which may wait in Ray, or by tokens, if more.

    Ray applies the bounds and delays of the deployment, and makes the first replica itself.
    """

    def __init__(self, tokens_per_replica: int):
        self._tokens_per_replica = tokens_per_replica

    def __call__(self, context: AutoscalingContext) -> tuple[float, dict]:
        by_requests = context.total_num_requests / context.config.get_target_ongoing_requests()
        tokens = sum((context.aggregated_metrics or {}).get(TOKENS, {}).values())
        return max(by_requests, tokens / self._tokens_per_replica), {}


def _policy_of(model: Model) -> AutoscalingPolicy:
    """What decides how many replicas a model has; Ray's own counts requests alone."""
    if model.tokens_per_replica is None:
        return AutoscalingPolicy()
    return AutoscalingPolicy(
        policy_function="quern_ray:ScaleByTokens",
        policy_kwargs={"tokens_per_replica": model.tokens_per_replica},
    )


class Replica:
    """One Quern with one model in memory."""

    HEALTH_SECONDS = 1.0
    MISSED = 3

    async def __init__(self, program: list[str], model: Model):
        port = _free_port()
        self._url = f"http://127.0.0.1:{port}"
        env = {
            **os.environ,
            "OLLAMA_NUM_PARALLEL": str(model.requests_per_replica),
            "QUERN_THREADS": str(max(1, round(model.cpus))),
            "QUERN_PRELOAD": model.name,
            **model.env,
            "OLLAMA_HOST": f"127.0.0.1:{port}",
        }
        # Ray's replicas are reached by their own keys, if by any; the process listens to this machine.
        self._process = subprocess.Popen(
            [*program, "serve"], env=env, preexec_fn=_die_with_parent, stdin=subprocess.DEVNULL
        )
        limits = httpx.Limits(max_connections=None)
        # The first sign of life of an answer that is not streamed comes after 20 seconds.
        timeout = httpx.Timeout(60.0, read=120.0)
        self._client = httpx.AsyncClient(base_url=self._url, timeout=timeout, limits=limits)
        self._lost = asyncio.Event()
        self._tokens = 0
        await self._until_ready()
        self._watching = asyncio.create_task(self._watch())

    async def _until_ready(self) -> None:
        while True:
            if self._process.poll() is not None:
                raise ReplicaLost(f"Quern ended with {self._process.returncode} as it started")
            try:
                if (await self._client.get("/health/ready")).status_code == 200:
                    break
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.1)

    async def _watch(self) -> None:
        """Notes when the process ends, or does not answer several times in a row."""
        missed = 0
        while missed < self.MISSED and self._process.poll() is None:
            await asyncio.sleep(self.HEALTH_SECONDS)
            try:
                answer = await self._client.get(
                    "/health/live", headers=ASKS_FOR_LOAD, timeout=self.HEALTH_SECONDS
                )
                self._tokens = _tokens_of(answer)
                missed = 0
            except httpx.TransportError:
                missed += 1
        self._lost.set()
        self._process.kill()

    async def record_autoscaling_stats(self) -> dict[str, float]:
        """What Ray keeps of each replica for ScaleByTokens."""
        return {TOKENS: self._tokens}

    async def check_health(self) -> None:
        """Ray replaces a replica for which this fails."""
        if self._lost.is_set() or self._process.poll() is not None:
            raise ReplicaLost("Quern has ended or does not answer")

    async def __call__(self, request: Forwarded) -> AsyncIterator[Union[Head, bytes]]:
        """The answer: its head, then its bytes as they come."""
        sent = self._client.build_request(
            request.method, request.path, headers=request.headers, content=request.body
        )
        response = await self._or_lost(self._client.send(sent, stream=True))
        try:
            kept = [(k, v) for k, v in response.headers.items() if k not in HOP_HEADERS]
            yield Head(response.status_code, kept)
            chunks = response.aiter_raw()
            while (chunk := await self._or_lost(anext(chunks, None))) is not None:
                yield chunk
        finally:
            # Also where the client has left, which ends the generation in Quern.
            await response.aclose()

    async def _or_lost(self, coming):
        """What comes, unless the process is lost before it."""
        task = asyncio.ensure_future(coming)
        lost = asyncio.ensure_future(self._lost.wait())
        try:
            await asyncio.wait({task, lost}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise ReplicaLost("Quern does not answer any more")
            return task.result()
        except httpx.TransportError as error:
            raise ReplicaLost(f"Quern cut the connection: {error}") from error
        finally:
            task.cancel()
            lost.cancel()

    def __del__(self):
        process = getattr(self, "_process", None)
        if process is None or process.poll() is not None:
            return
        # Ray has waited for the running requests; Quern waits for them likewise.
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


async def _rest(answer, first: bytes, media_type: str) -> AsyncIterator[bytes]:
    """The bytes of an answer; if its replica is lost in its midst, an error in the answer's form."""
    yield first
    try:
        async for chunk in answer:
            yield chunk
    except (RayActorError, RayTaskError) as error:
        message = f"the replica was lost in the midst of the answer: {_why(error)}"
        if "event-stream" in media_type:
            shape = {"error": {"message": message, "type": "api_error", "code": None, "param": None}}
            yield f"event: error\ndata: {json.dumps(shape)}\n\n".encode()
        elif "ndjson" in media_type:
            yield (json.dumps({"error": message}) + "\n").encode()
        else:
            # Half a JSON text would look whole to nobody; the connection says it.
            raise


def _is_lost(error: Exception) -> bool:
    return not isinstance(error, RayTaskError) or isinstance(error.cause, ReplicaLost)


def _why(error: Exception) -> str:
    return str(error.cause if isinstance(error, RayTaskError) else error).splitlines()[0]


def _error(request: Request, status: int, message: str) -> JSONResponse:
    """An error in the form of the API that was asked."""
    if not request.url.path.startswith("/v1/"):
        return JSONResponse({"error": message}, status)
    kind = "not_found_error" if status == 404 else "api_error"
    if "anthropic-version" in request.headers:
        return JSONResponse({"type": "error", "error": {"type": kind, "message": message}}, status)
    error = {"message": message, "type": kind, "param": None, "code": None}
    return JSONResponse({"error": error}, status)


def _json(body: bytes) -> dict:
    try:
        content = json.loads(body)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _text_of(content: dict) -> str:
    """The text of a prompt, in the order in which a model reads it."""
    parts: list[str] = []

    def collect(value) -> None:
        if isinstance(value, str):
            parts.append(value)
        elif isinstance(value, list):
            for item in value:
                collect(item)
        elif isinstance(value, dict):
            collect(value.get("content") or value.get("text") or value.get("input"))

    for member in ("system", "instructions", "tools", "messages", "prompt", "input"):
        value = content.get(member)
        if member == "tools" and value:
            parts.append(json.dumps(value))
        else:
            collect(value)
    return "".join(parts)


# Ray takes a copy of what the class below uses here, so it stands below all that.
app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)


@serve.deployment(name="ingress", max_ongoing_requests=1000, ray_actor_options={"num_cpus": 0.1})
@serve.ingress(app)
class Ingress:
    """Sends each request to the deployment of its model."""

    def __init__(self, attempts: int, handles: dict[str, DeploymentHandle]):
        self._attempts = attempts
        self._handles = {name: handle.options(stream=True) for name, handle in handles.items()}

    @app.api_route("/{path:path}", methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
    async def answer(self, request: Request) -> Response:
        body = await request.body()
        content = _json(body)
        name = content.get("model") if isinstance(content.get("model"), str) else None
        handle = self._handle_of(name)
        if handle is None:
            known = ", ".join(self._handles)
            return _error(request, 404, f'model "{name}" is not served here: there are {known}')
        query = f"?{request.url.query}" if request.url.query else ""
        path = request.url.path + query
        forwarded = Forwarded(
            request.method,
            path,
            [(k, v) for k, v in request.headers.items() if k not in HOP_HEADERS],
            body,
            _text_of(content) or f"{request.method} {path}",
        )
        return await self._forward(request, handle, forwarded)

    def _handle_of(self, name: Optional[str]):
        """The deployment of a model; for requests that name none, any."""
        if name is None:
            return next(iter(self._handles.values()))
        return self._handles.get(name) or self._handles.get(name.removesuffix(":latest"))

    async def _forward(self, request: Request, handle, forwarded: Forwarded) -> Response:
        for attempt in range(1, self._attempts + 1):
            answer = handle.remote(forwarded)
            try:
                head = await anext(answer)
                first = await anext(answer, b"")
                break
            except (RayActorError, RayTaskError, DeploymentUnavailableError) as error:
                if not _is_lost(error):
                    raise
                if attempt == self._attempts:
                    return _error(request, 503, f"the request was lost {attempt} times: {_why(error)}")
                # Ray needs some seconds until it gives no more requests to a lost replica.
                await asyncio.sleep(min(4, 0.25 * 2**attempt))
            except BackPressureError:
                return _error(request, 503, "all replicas are busy: try again later")
        headers = dict(head.headers)
        stream = _rest(answer, first, headers.get("content-type", ""))
        return StreamingResponse(stream, status_code=head.status, headers=headers)


def build(config: Config):
    """The application. Ray Serve calls it with the arguments of its configuration."""
    router = (
        RequestRouterConfig(
            request_router_class=PrefixRouter,
            request_router_kwargs={"imbalanced_threshold": config.imbalance, "do_eviction": True},
        )
        if config.routing == "prefix"
        else RequestRouterConfig()
    )
    names = [model.name for model in config.models]
    if len(set(names)) < len(names):
        raise ValueError("Cannot serve: a model is listed twice")
    replicas = {}
    for model in config.models:
        deployment = serve.deployment(
            Replica,
            name=model.name.replace(":", "-").replace("/", "-"),
            ray_actor_options={"num_cpus": model.cpus, "num_gpus": model.gpus},
            max_ongoing_requests=model.queued_per_replica,
            health_check_period_s=2,
            health_check_timeout_s=10,
            graceful_shutdown_timeout_s=120,
            request_router_config=router,
            autoscaling_config=AutoscalingConfig(
                min_replicas=model.min_replicas,
                max_replicas=max(model.min_replicas, model.max_replicas),
                initial_replicas=model.min_replicas,
                target_ongoing_requests=model.requests_per_replica,
                policy=_policy_of(model),
                upscale_delay_s=1,
                downscale_delay_s=model.downscale_delay,
            ),
        )
        replicas[model.name] = deployment.bind(config.program, model)
    return Ingress.bind(config.attempts, replicas)
