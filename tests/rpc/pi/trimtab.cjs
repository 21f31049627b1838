// What the client starts as `node CLI …`: the Python that the test names, with the same pipes.
const { spawn } = require("node:child_process");

const child = spawn(process.env.TRIMTAB_TEST_PYTHON, ["-m", "trimtab", ...process.argv.slice(2)], { stdio: "inherit" });
for (const name of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(name, () => child.kill(name));
child.on("exit", (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
