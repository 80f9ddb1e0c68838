// The statuses that an operation may fail with, and what each says. They follow from what the operation
// takes and needs: a body, a model, the disk.

import type { Failure, Operation } from "./operation.ts";

/** A status of failure, described. */
export interface FailureStatus {
  status: number;
  description: string;
  /** A sentence of such an error. */
  message: string;
}

const FORBIDDEN: FailureStatus = {
  status: 403,
  description: "The Host or the Origin of the request is not allowed here, or the model's server " +
    "refuses.",
  message: 'host "example.com" is not allowed: add it to QUERN_HOSTS',
};

const UNAUTHORIZED: FailureStatus = {
  status: 401,
  description: "The server has QUERN_API_KEY set, and the request lacks the key.",
  message: 'the API key is missing: send it as "Authorization: Bearer" or "x-api-key"',
};

const BAD_REQUEST: FailureStatus = {
  status: 400,
  description: "The request cannot be done as it stands. The sentence names the member at fault.",
  message: "model is required",
};

/** Failures of any request with a body. */
const OF_BODIES: FailureStatus[] = [
  BAD_REQUEST,
  {
    status: 408,
    description: "The body did not come in time.",
    message: "the request body did not come in time",
  },
  {
    status: 413,
    description: "The body is too large.",
    message: "the request body is larger than 33554432 bytes",
  },
  {
    status: 415,
    description: "The body's Content-Encoding is neither gzip nor zstd.",
    message: 'content-encoding must be gzip or zstd, not "br"',
  },
];

const BUSY: FailureStatus = {
  status: 503,
  description: "The server is busy or shutting down. Retry-After says when to come back.",
  message: "the server is shutting down",
};

const OF_NEEDS: Record<Failure, FailureStatus> = {
  model: {
    status: 404,
    description: "There is no such model.",
    message: "model 'gemma3:1b' not found",
  },
  response: {
    status: 404,
    description: "The response is not kept here: it never was, is too old, or is another key's.",
    message: "no response 'resp_1' is kept here",
  },
  request: {
    status: 404,
    description: "No such request is running.",
    message: 'no request "my-request-1" is running',
  },
  file: { status: 404, description: "There is no such file.", message: "404 page not found" },
  blob: { status: 404, description: "The blob is not there.", message: "not found" },
  busy: BUSY,
  disk: {
    status: 507,
    description: "The disk has no room, or may not be read or written.",
    message: "Cannot write to the folder of the models: the disk is full",
  },
  registry: {
    status: 502,
    description: "The registry cannot be reached, or failed.",
    message: "Cannot reach the registry",
  },
  remote: {
    status: 502,
    description: "The server that has the model cannot be reached, or failed.",
    message: "Cannot reach the server of the model",
  },
};

/** The statuses that an operation may fail with, each once, in order. */
export function failuresOf(operation: Operation): FailureStatus[] {
  const { body, isUpload, isOpen, parameters = [], failures = [] } = operation;
  const hasQuery = parameters.some((parameter) => parameter.in === "query");
  const found = [
    FORBIDDEN,
    ...(isOpen ? [] : [UNAUTHORIZED, BUSY]),
    ...(body || isUpload ? OF_BODIES : []),
    ...(hasQuery ? [BAD_REQUEST] : []),
    ...failures.map((failure) => OF_NEEDS[failure]),
    // To find a model, files are read.
    ...(failures.includes("model") ? [OF_NEEDS.disk] : []),
  ];
  const byStatus = new Map(found.map((failure) => [failure.status, failure]));
  return [...byStatus.values()].sort((a, b) => a.status - b.status);
}
