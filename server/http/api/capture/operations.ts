// The operation that shows what a model computes inside.

import { native } from "../ollama/operations.ts";
import { named, type Operation, whole } from "../openapi/operation.ts";
import { captureAnswerSchema } from "./answer_schema.ts";
import { captureSchema } from "./schema.ts";

/** An answer that is a file. */
function file(type: string, name: string): Operation["answers"] {
  return { [type]: named(name, { type: "string", format: "binary" }, "") };
}

/** Values at points of a model. */
export const captureOperations: Operation[] = [
  native({
    id: "capture",
    method: "post",
    path: "/api/capture",
    summary: "Run prompts once, and give the values at points inside the model.",
    body: named("CaptureRequest", captureSchema, {
      model: "quern:tiny",
      prompt: "Hi",
      points: ["residual.post[-1]"],
      positions: "last",
    }),
    answers: {
      ...file("application/zip", "CaptureNpz"),
      ...file("application/octet-stream", "CaptureSafetensors"),
      ...whole("CaptureAnswer", captureAnswerSchema, {
        model: "quern:tiny",
        results: [{
          tokens: [72],
          points: [{
            point: "residual.post[5]",
            dtype: "F32",
            shape: [1, 2],
            positions: [0],
            data: "AAAAPwAAgL8=",
          }],
        }],
      }),
    },
    failures: ["model", "busy", "remote"],
  }),
];
