// A collector for the tests: a real server on this machine that does what it is told, and remembers what it got.
import { createServer } from "node:http";
import { every, Survey } from "../dist/index.js";
import { unequal } from "../dist/unequal.js";

export const LABELS = ["chrome", "firefox", "safari", "edge", "other"];

export function specification(changes = {}) {
  return {
    name: "browser",
    question: "Which browser are you using?",
    labels: LABELS,
    oracle: { name: "fhr", epsilon: 1 },
    ...changes,
  };
}

export async function collector() {
  const seen = [];
  const plan = []; // what to do with the next requests: a status and headers, "cut", or anything else for a good answer
  const surveys = new Map();
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const post = {
      path: request.url,
      method: request.method,
      headers: request.headers,
      body: Buffer.concat(parts).toString("hex"),
    };
    seen.push(post);
    const step = plan.shift();
    if (step === "cut") return void request.socket.destroy();
    const send = (status, reply, headers = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(typeof reply === "string" ? reply : JSON.stringify(reply));
    };
    if (step) return send(step.status, step.body ?? { detail: "no, because" }, step.headers);
    if (request.method === "POST")
      return send(200, request.url.endsWith("/withdrawals") ? { withdrawn: 1 } : { accepted: 1 });
    const name = new URL(request.url, "http://x").pathname.split("/").pop();
    return surveys.has(name) ? send(200, surveys.get(name)) : send(404, { detail: "there is no such survey" });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  const publish = async (fields, state = "open") => {
    const survey = await Survey.of(fields, url, [...every, ...unequal]);
    surveys.set(survey.name, { version: survey.version, survey: survey.specification, state });
    return survey;
  };
  const close = () =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(resolve);
    });
  return { url, seen, plan, publish, surveys, posts: () => seen.filter(({ method }) => method === "POST"), close };
}

/** Let no time pass while the client waits before it asks again; return how long it wanted to. */
export function withoutWaiting(t) {
  const delays = [];
  const original = globalThis.setTimeout;
  globalThis.setTimeout = (work, delay, ...rest) => {
    delays.push(delay);
    return original(work, 0, ...rest);
  };
  t.after(() => (globalThis.setTimeout = original));
  return delays;
}
