// Opens frames that all answer the same survey at once, each with another label, and tells the server what they got.
const FRAMES = 6;

async function together(kind) {
  const answers = [];
  const all = new Promise((resolve) => {
    window.onmessage = ({ data }) => answers.push(data) === FRAMES && resolve(answers);
  });
  const frames = Array.from({ length: FRAMES }, (_, k) => {
    const frame = document.createElement("iframe");
    frame.src = `frame.html?${new URLSearchParams({ kind, label: "abcdef"[k] })}`;
    document.body.append(frame);
    return frame;
  });
  await all;
  for (const frame of frames) frame.remove();
  return answers;
}

const answers = { database: await together("database"), local: await together("local") };
await fetch("/done", { method: "POST", body: JSON.stringify(answers) });
