// A test is a name and a function that throws. They run one after another once the page has been drawn, and leave their results in the document.

const tests = [];
const test = (name, body) => tests.push([name, body]);
const assert = (holds, words) => { if (!holds) throw new Error(words); };
const equal = (found, wanted, words) => assert(JSON.stringify(found) === JSON.stringify(wanted), `${words}: ${JSON.stringify(found)}, expected ${JSON.stringify(wanted)}`);
const close = (found, wanted, room, words) => assert(Math.abs(found - wanted) <= room, `${words}: ${found}, expected ${wanted} within ${room}`);
const frames = async (count = 3) => { for (let frame = 0; frame < count; frame += 1) await new Promise((go) => requestAnimationFrame(go)); };
const all = (selector, parent = document) => [...parent.querySelectorAll(selector)];
const press = (target, key) => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const pointer = (target, kind, x, y, more = {}) => target.dispatchEvent(new PointerEvent(kind, { clientX: x, clientY: y, bubbles: true, pointerId: 1, pointerType: "mouse", ...more }));
const choose = (target, value) => { target.value = value; target.dispatchEvent(new Event("change", { bubbles: true })); };

const runAll = async () => {
  const passed = [];
  await frames();
  for (const [name, body] of tests) {
    try {
      await body();
      await frames();
      passed.push(name);
    } catch (error) {
      failures.push(`${name}: ${error.message}`);
    }
  }
  const result = document.createElement("pre");
  result.id = "test-result";
  result.textContent = JSON.stringify({ passed, failures });
  document.body.append(result);
};
