// Small talk: what people say between the things they want, each with a short friendly answer.
// None of it needs a tool or tells a fact about the user that could be asked for later. Also what
// people want that no tool of the catalogue is for.

/** What a user says and what is answered. */
export const SMALL_TALK: readonly (readonly [said: string, answer: string])[] = [
  ["Hello!", "Hello! How can I help you?"],
  ["Hi there.", "Hello! How can I help you?"],
  ["Good morning!", "Good morning! How can I help you?"],
  ["Thank you!", "You are welcome!"],
  ["Hey!", "Hello! How can I help you?"],
  ["Thanks a lot.", "You are welcome!"],
  ["How are you?", "I am fine, thank you!"],
  ["How are you today?", "I am fine, thank you!"],
  ["Nice weather today.", "That is good to hear!"],
  ["Many thanks!", "You are welcome!"],
  ["That is great.", "I am glad to hear that!"],
  ["I slept badly last night.", "I am sorry to hear that."],
  ["It is raining again.", "I hope it stops soon."],
  ["I am a bit tired.", "I hope you can rest soon."],
  ["How is it going?", "I am fine, thank you!"],
  ["I had a good day.", "I am glad to hear that!"],
  ["What can you do?", "I can answer short questions and use the tools I am given."],
  ["Who are you?", "I am a very small language model."],
  ["Are you a robot?", "I am a very small language model."],
  ["That sounds good.", "I am glad to hear that!"],
  ["Can you help me?", "Of course! What do you need?"],
  ["I have a question.", "Of course! What is it?"],
  ["Tell me a joke.", "Why did the computer sneeze? It had a virus."],
  ["Say something nice.", "It is good to talk to you!"],
  ["What do you do?", "I can answer short questions and use the tools I am given."],
  ["Goodbye!", "Goodbye, have a nice day!"],
  ["See you later.", "Goodbye, have a nice day!"],
  ["Good night.", "Good night, sleep well!"],
  ["The traffic was terrible today.", "I am sorry to hear that."],
  ["Have a good evening!", "Goodbye, have a nice day!"],
  ["Well done!", "Thank you!"],
  ["You are very kind.", "Thank you!"],
  ["I like talking to you.", "It is good to talk to you!"],
  ["I am bored.", "We can talk a little if you like."],
  ["You are great.", "Thank you!"],
  ["The sun is shining.", "That is good to hear!"],
  ["I missed my bus this morning.", "I am sorry to hear that."],
  ["The coffee is cold.", "I am sorry to hear that."],
  ["We won the match!", "Congratulations!"],
  ["It is so cold outside.", "I hope it gets warmer soon."],
  ["I passed my exam!", "Congratulations!"],
  ["What a long day.", "I hope you can rest soon."],
  ["My back hurts.", "I am sorry to hear that."],
  ["I just had lunch.", "I hope it was good!"],
  ["I am really sleepy.", "I hope you can rest soon."],
  ["Do you sleep?", "No, I am a program and never sleep."],
  ["Are you a person?", "No, I am a very small language model."],
  ["Do you like music?", "I am a program and cannot hear music."],
  ["Good afternoon!", "Good afternoon! How can I help you?"],
  ["Are you human?", "No, I am a very small language model."],
  ["Okay.", "Is there anything else?"],
  ["I see.", "Is there anything else?"],
  ["Never mind.", "All right. Is there anything else?"],
  ["That is all for now.", "All right. Have a nice day!"],
  ["Good to know.", "Is there anything else?"],
];

const ABOUT =
  "[the sea|a dragon|my cat|the moon|spring|a lost key|two old friends|the rain|a brave knight|our street]";

/** What a small model with a few tools cannot do, as patterns (random.ts). */
export const TOO_MUCH: readonly string[] = [
  `[Write|Make up|Invent|Compose|Please write] [me |][a poem|a story|a song|a fairy tale|a speech|a letter] about ${ABOUT}.`,
  `[Draw|Paint|Show|Please draw] [me |][a picture|a map|a sketch] of ${ABOUT}.`,
  "Who [invented|discovered|built|first made|gave us] the [telephone|light bulb|bicycle|steam engine|piano|printing press|wheel|radio]?",
  "Who [won|lost] the [world cup|war|election|race|last match] [in 1998|last year|back then|that day]?",
  "Why [is the sky blue|is the sea salty|do cats purr|do leaves fall|is grass green|do we dream|is ice slippery][| at all|, really]?",
  "How do [planes fly|birds find their way|magnets work|bees make honey|I become famous|fish breathe|I get rich][| at all|, really]?",
  "What [is the meaning of life|will happen next year|is the best film of all time|was before time|makes people happy|is love]?",
  "[Repair|Wash|Sell|Paint|Clean] my [bicycle|car|roof|shoes|boat][| today|, please| for me].",
  "[Tell me|Explain to me|What do you know about] the history of [tea|my town|money|music|the wheel|paper].",
  "[Which book should I read|Which film should I see|What should I cook|What should I wear] [next|tonight|tomorrow|today]?",
  "[Summarize|Explain|Translate] [this book|my letter|the last meeting|the law] [for me|in three words|to a child].",
];

/** System prompts that ask for nothing in particular. */
export const PLAIN_SYSTEMS: readonly string[] = [
  "You are a helpful assistant.",
  "You are a friendly assistant.",
  "You are an assistant.",
  "Help the user.",
  "You help the user.",
  "Answer the user's questions.",
  "You are Quern.",
  "You are a small assistant.",
  "Be helpful.",
  "You are a helpful model.",
];
