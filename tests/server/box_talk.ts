// What the tests of clients say to the model in the box, greedily, and what it has learnt to answer:
// a tool that it calls, a sum that it thinks about, a text that it extracts facts from, and a fact
// that it keeps from one turn to the next.

/** The model. */
export const BOX = "quern:tiny";

/** A question that a tool is for, what is said before the call, its result, and the words for it. */
export const weather = {
  question: "What is the weather in Rome?",
  lead: "For that I have get_weather.",
  name: "get_weather",
  description: "Get the current weather in a city",
  parameters: {
    type: "object" as const,
    properties: { city: { type: "string" as const } },
    required: ["city"],
    additionalProperties: false,
  },
  arguments: { city: "Rome" },
  result: '{"temperature": 22, "sky": "cloudy"}',
  told: /22 degrees and cloudy in Rome/,
};

/** The tool as chats of Ollama and OpenAI offer it. */
export const weatherTool = {
  type: "function" as const,
  function: {
    name: weather.name,
    description: weather.description,
    parameters: weather.parameters,
  },
};

/** A sum, what is thought about its ones, and the answer. */
export const sum = { question: "What is 27 + 45?", thought: /7 \+ 5 = 12/, answer: /= 72\.$/ };

/** A text, the schema of the facts in it, and the facts. */
export const passage = {
  question: "Extract name and age as JSON. Nora Weber is 34 years old and lives in Rome.",
  schema: {
    type: "object" as const,
    properties: { name: { type: "string" as const }, age: { type: "integer" as const } },
    required: ["name", "age"],
    additionalProperties: false as const,
  },
  facts: { name: "Nora Weber", age: 34 },
};

/** A fact, a question about it, and the answer. */
export const name = { told: "My name is Nora.", question: "What is my name?", answer: /Nora/ };
