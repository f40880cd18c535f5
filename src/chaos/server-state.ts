import { createAnswering } from './answering.ts';
import type { Answering } from './answering.ts';
import { createCounting } from './counting.ts';
import type { Counting } from './counting.ts';
import type { Settings } from './options.ts';
import { createRecords } from './records.ts';
import type { OpenRecord, Records } from './records.ts';
import { createSchedule } from './schedule.ts';
import type { FaultSchedule, Schedule } from './schedule.ts';

/** All that changes while the server runs. */
export interface ServerState {
  readonly records: Records;
  readonly counting: Counting;
  readonly schedule: () => Schedule;
  readonly answering: () => Answering;
  /** Counted from 1. */
  readonly nextSequence: () => number;
  readonly setFaults: (faults: FaultSchedule | undefined) => void;
  readonly reset: () => void;
  /** Whether the connection that begins now is cut; then it is recorded as if it had been a request. */
  readonly takeHandshakeFault: () => boolean;
}

/** As the settings say. Throws where the faults cannot be meant. */
export function createServerState(settings: Settings): ServerState {
  const { seed, model, maxRecords, onRequest } = settings;
  const counting = createCounting();
  const records = createRecords(maxRecords, { counting, onEnd: onRequest });
  let { faults } = settings;
  let schedule = createSchedule(faults, seed);
  let answering = createAnswering(model, seed);
  let sequence = 0;
  const nextSequence = (): number => (sequence += 1);

  function setFaults(next: FaultSchedule | undefined): void {
    schedule = createSchedule(next, seed);
    faults = next;
  }

  function takeHandshakeFault(): boolean {
    const fault = schedule.takeHandshakeFault();
    if (fault === undefined) return false;
    const record = { ...handshakeRecord(settings, nextSequence()), faultAsked: fault };
    records.begin(record);
    records.delivered(record);
    records.end(record, 'reset-by-us');
    return true;
  }

  return {
    records,
    counting,
    schedule: () => schedule,
    answering: () => answering,
    nextSequence,
    setFaults,
    takeHandshakeFault,
    reset: () => {
      records.reset();
      setFaults(faults);
      answering = createAnswering(model, seed);
      sequence = 0;
    },
  };
}

/** A connection that broke before it could carry a request. */
function handshakeRecord({ clock }: Settings, sequence: number): OpenRecord {
  return {
    sequence,
    atMs: clock.monotonicMs(),
    wallMs: clock.wallMs(),
    method: '',
    path: '',
    protocol: 'handshake',
    model: '',
    isStream: false,
    headers: {},
    hasCredentials: false,
    body: undefined,
    bytesSent: 0,
    ended: 'open',
  };
}
