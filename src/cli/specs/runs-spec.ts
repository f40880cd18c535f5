import type { CommandSpec } from './command-spec.ts';
import { configOption, jsonOption, storeOption, workspaceOption } from './shared-options.ts';

export const runsSpec: CommandSpec = {
  name: 'runs',
  group: 'look',
  summary: 'List the runs on record, the latest first',
  options: [
    {
      flags: '--status <status...>',
      text: 'Only these: running, suspended, parked, completed, stopped, cancelled, failed; may be repeated',
    },
    { flags: '--code <code>', text: 'Only those that failed or wait with this code, as RATE_LIMITED' },
    { flags: '--tool <name>', text: 'Only those that called this tool' },
    {
      flags: '--text <words>',
      text: 'Only those in which this was asked or answered; letter case does not matter',
    },
    { flags: '--since <time>', text: 'Only those that began since: 30m, 2h, 7d, or a date as in ISO 8601' },
    { flags: '--limit <number>', text: 'So many at most, 1 to 1000; 20 by default' },
    { flags: '--page <cursor>', text: 'Continue where a page ended: the page itself prints what to type' },
    {
      flags: '--below <run>',
      text: 'Only the child runs of this one: of a flow, a plan or a team; its whole id',
    },
    { flags: '--all', text: 'All of them, without pages, and with child runs' },
    {
      flags: '--check',
      text: 'Hold every event of the listed runs against its hash chain, and mark those that are damaged',
    },
    storeOption,
    configOption,
    workspaceOption,
    jsonOption,
  ],
  details: [
    '"interrupted" is a run whose process is gone: resume it with rerail resume. "parked" is one that no worker resumes automatically. In every command an id may be typed by its first letters, if they match one run only.',
    'The nodes of a flow and the members of a team are runs of their own, named after it: order-17/research. They are listed with --all and --below only.',
    'A run whose record came from elsewhere is marked [imported], [copied] or [taken over]: rerail why says from where. No approval in such a record counts.',
    'The list says what the store says of each run, and reads no events for that. Where the record of a run is found damaged, with --check or otherwise, its status is marked as not proven, and the exit code is 30.',
    'With --json every run is one line of JSON, and a last line of the type "end" has the cursor of the next page.',
  ],
  examples: [
    { line: 'rerail runs' },
    { line: 'rerail runs --status failed --since 12h', text: 'What went wrong tonight' },
    { line: 'rerail runs --status suspended', text: 'What waits for a person or a time' },
    { line: 'rerail runs --tool refund --text "order 17" --json' },
  ],
  exitCodes: [{ code: 30, means: 'there is no store, it cannot be read, or a run was found damaged' }],
  load: async () => (await import('../commands/runs-command.ts')).runRuns,
};
