// Drives `trimtab --mode rpc` with pi's own client, every method of it, and prints what came back as one JSON object.
import { pathToFileURL } from "node:url";

const [packages, cliPath, cwd, provider, model, longModel] = process.argv.slice(2);
const entry = pathToFileURL(`${packages}/@earendil-works/pi-coding-agent/dist/index.js`);
const { RpcClient } = await import(entry);

const called = new Set(["constructor", "handleLine", "send", "getData", "createProcessExitError", "rejectPendingRequests"]);
const bare = new RpcClient({ cliPath, cwd, provider, model, args: ["--permission", "auto-edit"] });
const client = new Proxy(bare, {
  get(target, name) {
    const value = target[name];
    if (typeof value !== "function") return value;
    called.add(name);
    return value.bind(target);
  },
});

const out = {};
const seen = [];
const questions = [];
const failure = (promise) => promise.then(() => "it succeeded", (error) => error.message);
const settled = () => new Promise((done) => {
  const stop = client.onEvent((event) => { if (event.type === "agent_settled") { stop(); done(event); } });
});

await client.start();
client.onEvent((event) => {
  seen.push(event);
  if (event.type === "extension_ui_request" && event.method === "select") {
    questions.push(event);
    const value = event.options.find((option) => option.startsWith("once"));
    bare.process.stdin.write(JSON.stringify({ type: "extension_ui_response", id: event.id, value }) + "\n");
  }
});

out.first = await client.getState();
out.events = (await client.promptAndWait("say hello \u2028 to me")).map((event) => event.type);
out.messages = await client.getMessages();
out.text = await client.getLastAssistantText();
out.asked = (await client.promptAndWait("make a file")).filter((event) => event.type === "tool_execution_end");
out.question = questions[0];

const wait = settled();
out.disposition = await client.prompt("wait for me");
out.steered = await client.steer("be quick");
out.followed = await client.followUp("one more");
out.late = await failure(client.prompt("and me"));
out.streaming = (await client.getState()).isStreaming;
out.cleared = await client.clearQueue();
await client.abort();
out.aborted = (await wait).aborted;

out.stats = await client.getSessionStats();
await client.setSessionName("a pi talk");
out.name = (await client.getState()).sessionName;
out.entries = (await client.getEntries()).entries.map((entry) => entry.type);
out.since = (await client.getEntries((await client.getEntries()).leafId)).entries.length;
out.tree = (await client.getTree()).tree.length;
out.commands = (await client.getCommands()).map((command) => command.name);
out.models = (await client.getAvailableModels()).map((each) => each.provider);
out.noModel = await failure(client.setModel("nobody", "nothing"));
out.sameModel = (await client.setModel(provider, model)).id;
out.cycled = await client.cycleModel();
await client.setThinkingLevel("off");
out.levels = await client.getAvailableThinkingLevels();
out.level = await client.cycleThinkingLevel();
await client.setSteeringMode("all");
await client.setFollowUpMode("one-at-a-time");
await client.setAutoCompaction(true);
await client.setAutoRetry(true);
await client.abortRetry();
out.bash = await client.bash("echo from-bash");
const begunBash = new Promise((done) => client.onEvent((event) => {
  if (event.type === "bash_execution_update" && event.delta.includes("begun")) done();
}));
const long = client.bash("echo begun; sleep 60");
await begunBash;
await client.abortBash();
out.stopped = (await long).cancelled;
out.page = await client.exportHtml();

const before = await client.getState();
const said = await client.getForkMessages();
out.said = said.map((message) => message.text);
out.forked = await client.fork(said[1].entryId);
out.afterFork = (await client.getMessages()).length;
out.cloned = await client.clone();
out.fresh = await client.newSession();
out.empty = (await client.getMessages()).length;
out.back = await client.switchSession(before.sessionFile);
out.same = (await client.getState()).sessionId === before.sessionId;
out.nowhere = await failure(client.switchSession("/no/such/session"));

const long2 = new RpcClient({ cliPath, cwd, provider, model: longModel });
await long2.start();
await long2.promptAndWait("read them");
out.compacted = await long2.compact("keep the names").catch((error) => ({ error: error.message }));
await long2.stop();
out.small = await client.compact().catch((error) => error.message);

const idle = client.waitForIdle();
out.events2 = client.collectEvents();
await client.prompt("bye");
await idle;
out.events2 = (await out.events2).length > 0;
const child = bare.process;
const gone = new Promise((done) => child.on("exit", (code, signal) => done(code ?? signal)));
await client.stop();
out.exit = await gone;
client.getStderr();
out.missed = Object.getOwnPropertyNames(RpcClient.prototype).filter((name) => !called.has(name));
console.log(JSON.stringify(out));
