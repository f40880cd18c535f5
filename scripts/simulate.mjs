// Runs the deterministic simulation: `npm run simulate -- --seed 17` shows one run, without arguments it is the gate's.
import { simulateCommand } from '../dist/sim/command.js';

process.exitCode = await simulateCommand(process.argv.slice(2), {
  write: (line) => console.log(line),
  cpuMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
});
