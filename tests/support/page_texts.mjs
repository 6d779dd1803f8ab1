// Every text of the answer page in English, one JSON string a line. Texts that depend on numbers are made with some.
// Promises are left out: they are the names of notions.
import { en } from "./en.mjs";

const TEXTS = ["2", "5", "3", "4"];

function* texts(value) {
  if (typeof value === "string") yield value;
  else if (typeof value === "function") yield* filled(value);
  else for (const [name, inner] of Object.entries(value ?? {})) if (!name.startsWith("promise")) yield* texts(inner);
}

function* filled(text) {
  for (const values of [[2, 5, 3, 4], TEXTS, [["a", "b"], 5, 3, 4]]) {
    try {
      yield* texts(text(...values));
      return;
    } catch {
      // it takes others
    }
  }
}

for (const text of texts(en)) console.log(JSON.stringify(text));
