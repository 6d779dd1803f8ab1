// Asks a gateway that is on standard input and output: node javascript_encapsulating.mjs. A line tells what to ask, with
// the gateway's keys; the encrypted request is written, its reply read, and what was in it written.
import { createInterface } from "node:readline";
import { through } from "../../src/fldp/collector/static/fldp_oblivious.js";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const bytes = (digits) => Uint8Array.from(Buffer.from(digits, "hex"));
const digits = (data) => Buffer.from(data).toString("hex");
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

for (;;) {
  const { value, done } = await lines.next();
  if (done) break;
  const { keys, route, method, headers, content } = JSON.parse(value);
  globalThis.fetch = async (url, { body }) => {
    if (url.endsWith("/keys")) return new Response(bytes(keys));
    say(digits(body));
    return new Response(bytes((await lines.next()).value));
  };
  const request = { method, headers, body: bytes(content) };
  const reply = await through("https://relay.example").ask(route, request);
  const wait = reply.headers.get("retry-after");
  say({ status: reply.status, wait, content: digits(await reply.arrayBuffer()) });
}
