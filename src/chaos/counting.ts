/** What has happened so far. */
export interface ChaosCounters {
  readonly requests: number;
  readonly faultsAsked: number;
  readonly faultsDelivered: number;
  /** Deliveries by name. */
  readonly faultsByName: Readonly<Record<string, number>>;
  readonly requestsByProtocol: Readonly<Record<string, number>>;
  readonly statuses: Readonly<Record<string, number>>;
  readonly inFlight: number;
  readonly maxInFlight: number;
  readonly connections: number;
  readonly openConnections: number;
}

/** Counts every request, also those that are no longer remembered. */
export interface Counting {
  readonly begun: (request: { readonly protocol: string; readonly faultAsked?: unknown }) => void;
  readonly delivered: (faultName: string) => void;
  readonly ended: (request: { readonly status?: number }) => void;
  readonly connected: () => void;
  readonly disconnected: () => void;
  readonly counters: () => ChaosCounters;
  /** Forgets what is over; what is still open stays counted. */
  readonly reset: () => void;
}

type Counts = { -readonly [Key in keyof ChaosCounters]: ChaosCounters[Key] };

/** Starts at nothing. */
export function createCounting(): Counting {
  let counts = emptyCounts();
  return {
    begun: ({ protocol, faultAsked }) => {
      counts.requests += 1;
      counts.faultsAsked += faultAsked === undefined ? 0 : 1;
      counts.requestsByProtocol = increased(counts.requestsByProtocol, protocol);
      counts.inFlight += 1;
      counts.maxInFlight = Math.max(counts.maxInFlight, counts.inFlight);
    },
    delivered: (faultName) => {
      counts.faultsDelivered += 1;
      counts.faultsByName = increased(counts.faultsByName, faultName);
    },
    ended: ({ status }) => {
      counts.inFlight -= 1;
      if (status !== undefined) counts.statuses = increased(counts.statuses, String(status));
    },
    connected: () => {
      counts.connections += 1;
      counts.openConnections += 1;
    },
    disconnected: () => {
      counts.openConnections -= 1;
    },
    counters: () => ({ ...counts }),
    reset: () => {
      const { inFlight, openConnections } = counts;
      counts = { ...emptyCounts(), inFlight, maxInFlight: inFlight, openConnections };
    },
  };
}

function emptyCounts(): Counts {
  return {
    requests: 0,
    faultsAsked: 0,
    faultsDelivered: 0,
    faultsByName: {},
    requestsByProtocol: {},
    statuses: {},
    inFlight: 0,
    maxInFlight: 0,
    connections: 0,
    openConnections: 0,
  };
}

type Tally = Readonly<Record<string, number>>;

/** The names are few: faults, protocols and statuses. */
function increased(tally: Tally, name: string): Tally {
  return { ...tally, [name]: (tally[name] ?? 0) + 1 };
}
