// A process that loads what it is told to, says what that took, and ends: see bench/agent.mjs.
const [, , address] = process.argv;
if (address !== undefined) await import(address);
const { user, system } = process.cpuUsage();
process.send?.((user + system) / 1000);
process.on('disconnect', () => process.exit(0));
