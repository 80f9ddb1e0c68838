// A worker that says one word.

postMessage("started");
