// Surveys that are repeated weekly or monthly, limits that renew, and ledgers of the format before.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  BudgetError,
  begin,
  epochOf,
  every,
  FldpError,
  firstDay,
  memoryStore,
  monthOf,
  ParameterError,
  Participant,
  Survey,
} from "../dist/index.js";
import { specification } from "./collector.js";

const URL_OF_COLLECTOR = "https://collector.example";
const MONTH = { month: { maxEpsilon: 2, minEta: 1 } };
const EARLIER = readFileSync(new URL("ledger_1.txt", import.meta.url), "utf8").trim();

const strings = {
  labels: undefined,
  domain: "strings",
  oracle: { name: "rappor", epsilon: 1, epsilon_permanent: 2 },
};

const surveyOf = (changes = {}) =>
  Survey.of(specification({ oracle: { name: "olh", epsilon: 1 }, ...changes }), URL_OF_COLLECTOR, every);

/** Set the clock, which stays there until the test ends. */
function clocked(t, day) {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse(day) });
  return (later) => t.mock.timers.setTime(Date.parse(later));
}

/** Return a store whose ledger began on a day. */
async function bornOn(t, day, today) {
  const set = clocked(t, day);
  const store = memoryStore();
  assert.equal(await begin(store), day);
  set(today);
  return { store, set };
}

test("epochs are those of the calendar, for every day of 28 years", () => {
  for (let time = Date.UTC(2000, 0, 1); time < Date.UTC(2028, 0, 1); time += 86400000) {
    const day = new Date(time).toISOString().slice(0, 10);
    const monday = new Date(time - ((new Date(time).getUTCDay() + 6) % 7) * 86400000);
    const week = Array.from({ length: 7 }, (_, n) => new Date(+monday + n * 86400000).toISOString());
    assert.equal(firstDay("weekly", day), week[0].slice(0, 10));
    assert.equal(new Set(week.map((each) => epochOf("weekly", each.slice(0, 10)))).size, 1);
    const thursday = week[3];
    assert.equal(monthOf(epochOf("weekly", day)), 12 * Number(thursday.slice(0, 4)) + Number(thursday.slice(5, 7)) - 1);
    assert.equal(epochOf("weekly", day).slice(0, 4), thursday.slice(0, 4));
    assert.equal(epochOf("monthly", day), day.slice(0, 7));
    assert.equal(firstDay("monthly", day), `${day.slice(0, 7)}-01`);
    assert.equal(firstDay("daily", day), day);
    assert.equal(epochOf("daily", day) + epochOf(undefined, day), "");
  }
  const numbers = ["2020-12-31", "2021-01-03", "2021-01-04", "2024-12-30", "2026-11-16"];
  assert.deepEqual(
    numbers.map((day) => epochOf("weekly", day)),
    ["2020-W53", "2020-W53", "2021-W01", "2025-W01", "2026-W47"],
  );
});

test("without a limit for months, each draw of a repeated survey is charged to the limits that last", async (t) => {
  const { store, set } = await bornOn(t, "2026-10-31", "2026-11-16");
  const survey = await surveyOf({ collect: { repeat: "monthly" } });
  const person = new Participant(survey, { store });
  const first = await person.prepare("firefox");
  assert.equal((await person.prepare("chrome")).key, first.key);
  set("2026-12-01");
  assert.equal(await person.recall(), null);
  const second = await person.prepare("firefox");
  assert.notEqual(second.key, first.key);
  assert.deepEqual(second.spent, { epsilon: "2", eta: 1, answers: 2 });
  set("2027-01-01");
  await assert.rejects(person.prepare("firefox"), /answers on topic .* an epsilon of at most 2 together, got 3/);
  set("2026-11-30");
  assert.equal((await person.prepare("firefox")).key, first.key);
});

test("with one, they are charged to their months, and to a year", async (t) => {
  const { store, set } = await bornOn(t, "2026-10-31", "2026-11-16");
  const survey = await surveyOf({ collect: { repeat: "monthly" } });
  const person = new Participant(survey, { store, limits: MONTH });
  const keys = new Set();
  for (let month = 1; month <= 12; month += 1) {
    set(`2027-${String(month).padStart(2, "0")}-10`);
    const { key, repeated, spent } = await person.prepare("firefox");
    assert.equal(repeated, false);
    assert.deepEqual(spent.renewing, { epsilon: String(month), months: month, thisMonth: "1" });
    keys.add(key);
  }
  assert.equal(keys.size, 12);
  const other = await surveyOf({ collect: { repeat: "monthly" }, description: "Another." });
  await assert.rejects(
    new Participant(other, { store, limits: MONTH }).prepare("firefox"),
    /from 2027-01 to 2027-12 must have an epsilon of at most 12 together, got 13$/,
  );
  const once = await surveyOf({ description: "Once." });
  assert.equal((await new Participant(once, { store }).prepare("firefox")).repeated, false);
});

test("a month has what its own limit allows one collector, and all of them together", async (t) => {
  const { store, set } = await bornOn(t, "2026-10-31", "2026-11-16");
  const answered = async (host, number, epsilon) => {
    const changes = {
      collect: { repeat: "monthly" },
      oracle: { name: "olh", epsilon },
      description: `Number ${number}.`,
    };
    const survey = await Survey.of(specification(changes), `https://${host}.example`, every);
    await new Participant(survey, { store, limits: MONTH }).prepare("firefox");
  };
  for (const host of ["a", "b"]) {
    await answered(host, 1, 1.5);
    await assert.rejects(answered(host, 2, 0.6), {
      name: "BudgetError",
      message: new RegExp(
        `answers to https://${host}.example in 2026-11 must have an epsilon of at most 2 together, got 2\\.1`,
      ),
    });
    await answered(host, 3, 0.5);
  }
  await assert.rejects(
    answered("c", 1, 0.1),
    /: all answers in 2026-11 must have an epsilon of at most 4 together, got 4\.1$/,
  );
  set("2026-12-01");
  for (const host of ["a", "b"]) await answered(host, 4, 2);
});

test("a week has one answer, from Monday to Sunday", async (t) => {
  const { store, set } = await bornOn(t, "2026-10-31", "2026-11-16");
  const survey = await surveyOf({ collect: { repeat: "weekly" }, oracle: { name: "grr", epsilon: 0.5 } });
  const person = new Participant(survey, { store, limits: MONTH });
  const keys = [];
  for (const day of ["2026-11-16", "2026-11-22", "2026-11-23"]) {
    set(`${day}T23:59:59Z`);
    keys.push((await person.prepare("firefox")).key);
  }
  assert.equal(keys[0], keys[1]);
  assert.notEqual(keys[1], keys[2]);
  assert.deepEqual(
    (await person.rows()).map(({ epoch, renews }) => [epoch, renews]),
    [
      ["2026-W47", true],
      ["2026-W48", true],
    ],
  );
});

test("what is kept is charged once, in its first epoch, and reported anew in each", async (t) => {
  const { store, set } = await bornOn(t, "2026-10-31", "2026-11-16");
  const survey = await surveyOf({ ...strings, collect: { repeat: "weekly" } });
  const person = new Participant(survey, { store, limits: MONTH });
  const keys = [];
  for (const day of ["2026-11-16", "2026-11-22", "2026-11-23", "2027-02-01", "2026-11-23"]) {
    set(day);
    keys.push((await person.prepare("firefox")).key);
  }
  assert.equal(new Set(keys).size, 3);
  assert.deepEqual([keys[0], keys[3]], [keys[1], keys[4]]);
  const [row, ...more] = await person.rows();
  assert.deepEqual([row.epoch, row.renews, row.epsilon, more.length], ["2026-W47", true, 2, 0]);
});

test("a young ledger says nothing by the month, and an empty one begins with its first refusal", async (t) => {
  const set = clocked(t, "2026-11-30");
  const store = memoryStore();
  const person = new Participant(await surveyOf({ collect: { repeat: "monthly" } }), { store, limits: MONTH });
  for (const day of ["2026-11-30", "2026-12-31", "2020-01-01"]) {
    set(day);
    await assert.rejects(
      person.prepare("firefox"),
      new BudgetError("participant: the ledger began on 2026-11-30: what is charged by the month begins with 2027-01"),
    );
  }
  set("2027-01-01");
  assert.equal((await person.prepare("firefox")).repeated, false);
  assert.equal(await begin(store), "2026-11-30");
});

test("flexible oracles are not charged by the month", async (t) => {
  const { store } = await bornOn(t, "2026-10-31", "2026-11-16");
  const survey = await surveyOf({ collect: { repeat: "monthly" }, oracle: { name: "fhr", epsilon: 1 } });
  await assert.rejects(
    new Participant(survey, { store, limits: MONTH }).prepare("firefox"),
    /must have an eta of 1, since etas multiply to nothing, got 1\/2$/,
  );
  assert.equal((await new Participant(survey, { store }).prepare("firefox")).spent.eta, 0.5);
  for (const name of ["month", "monthTotal", "year"]) {
    const limits = { ...MONTH, [name]: { maxEpsilon: 2, minEta: 0.5 } };
    assert.throws(() => new Participant(survey, { store, limits }), ParameterError);
  }
});

test("a search is answered once, and other words are no rule", async () => {
  for (const repeat of ["hourly", "daily"]) {
    await assert.rejects(surveyOf({ collect: { repeat } }), ParameterError);
  }
});

test("a ledger of the format before is read, keeps its answers, and begins when it is written", async (t) => {
  const set = clocked(t, "2026-11-16");
  const store = memoryStore();
  assert.equal(await store.replace(null, EARLIER), true);
  const [browser, homepage] = JSON.parse(EARLIER).answers;
  const once = await Survey.of(
    {
      name: "browser",
      question: "Which browser are you using?",
      description: "Version 0.",
      labels: ["chrome", "firefox", "safari", "edge", "other"],
      oracle: { name: "olh", epsilon: 1 },
    },
    URL_OF_COLLECTOR,
    every,
  );
  const daily = await Survey.of(
    {
      name: "homepage",
      question: "Which page?",
      domain: "strings",
      ...strings,
      labels: undefined,
      collect: { repeat: "daily" },
    },
    URL_OF_COLLECTOR,
    every,
  );
  assert.deepEqual([once.version, daily.version], [browser.version, homepage.version]);
  assert.equal((await new Participant(once, { store }).prepare("edge")).key, browser.key);
  set(homepage.day);
  assert.equal((await new Participant(daily, { store }).prepare("edge")).key, homepage.key);
  assert.equal(await store.read(), EARLIER); // what is only read stays as it is
  set("2027-03-10");
  const monthly = new Participant(await surveyOf({ collect: { repeat: "monthly" } }), { store, limits: MONTH });
  await assert.rejects(monthly.prepare("edge"), /the ledger began on 2027-03-10/);
  const { format, born, answers, refusals } = JSON.parse(await store.read());
  assert.deepEqual([format, born, answers], ["fldp-ledger-2", "2027-03-10", JSON.parse(EARLIER).answers]);
  assert.deepEqual(refusals, { [URL_OF_COLLECTOR]: 2 });
  set("2027-04-01");
  assert.equal((await monthly.prepare("edge")).repeated, false);
  assert.equal((await new Participant(once, { store }).prepare("edge")).key, browser.key);
});

test("a ledger whose birth or epochs are no dates is damaged", async () => {
  const row = { ...JSON.parse(EARLIER).answers[0], epoch: "2026-11", renews: true };
  const text = (book) => JSON.stringify({ format: "fldp-ledger-2", born: "2026-10-01", answers: [row], ...book });
  const survey = await surveyOf();
  const read = async (book) => {
    const store = memoryStore();
    await store.replace(null, text(book));
    return new Participant(survey, { store }).rows();
  };
  assert.equal((await read({})).length, 1);
  for (const born of [undefined, "", "2026-02-30", "2026-W46-1", 7, "soon"]) {
    await assert.rejects(read({ born }), FldpError, String(born));
  }
  for (const changes of [{ epoch: "2026-13" }, { epoch: "2025-W53" }, { epoch: "2026-W00" }, { epoch: 7 }]) {
    await assert.rejects(read({ answers: [{ ...row, ...changes }] }), FldpError, JSON.stringify(changes));
  }
  for (const changes of [{ epoch: undefined }, { renews: 1 }, { renews: undefined }]) {
    await assert.rejects(read({ answers: [{ ...row, ...changes }] }), FldpError, JSON.stringify(changes));
  }
});
