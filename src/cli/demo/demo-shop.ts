import type { Tool } from '../../model/tool.ts';
import { tool } from '../../tools/tool.ts';

/** What was really done, for any caller. */
export interface Books {
  /** How often the code of each tool was reached. */
  readonly calls: Map<string, number>;
  readonly refunds: Refund[];
}

interface Refund {
  readonly key: string;
  readonly orderId: string;
  readonly cents: number;
}

export interface Shop {
  readonly findOrder: Tool;
  readonly searchOrders: Tool;
  readonly weather: Tool;
  readonly refund: Tool;
  /** The same, and a person is asked before every call. */
  readonly refundOnApproval: Tool;
}

export function openBooks(): Books {
  return { calls: new Map(), refunds: [] };
}

/** The tools of a small shop, in this process. With `isDeaf` reading is too slow at first, and paying is done and never answers. */
export function openShop(books: Books, { isDeaf = false }: { readonly isDeaf?: boolean } = {}): Shop {
  const findOrder = tool({
    name: 'find_order',
    description: 'Finds an order by its number.',
    input: objectOf({ orderId: { type: 'string' } }),
    effect: 'read',
    execute: ({ orderId }) => {
      count(books, 'find_order');
      return { orderId, cents: 4200, state: 'paid' };
    },
  });
  const searchOrders = tool({
    name: 'search_orders',
    description: 'Searches the orders for a text.',
    input: objectOf({ query: { type: 'string' } }),
    effect: 'read',
    execute: () => {
      count(books, 'search_orders');
      return 'No order matches.';
    },
  });
  const weather = tool({
    name: 'get_weather',
    description: 'The weather of today in a city.',
    input: objectOf({ city: { type: 'string' } }),
    effect: 'read',
    timeoutMs: 600,
    execute: (_input, { attempt, signal }) => {
      count(books, 'get_weather');
      return isDeaf && attempt === 1 ? untilAborted(signal) : { sky: 'rain', degrees: 7 };
    },
  });
  return {
    findOrder,
    searchOrders,
    weather,
    refund: refundTool(books, { isDeaf, permission: 'allow' }),
    refundOnApproval: refundTool(books, { isDeaf, permission: 'ask' }),
  };
}

interface RefundRules {
  readonly isDeaf: boolean;
  readonly permission: 'allow' | 'ask';
}

function refundTool(books: Books, { isDeaf, permission }: RefundRules): Tool {
  return tool({
    name: 'refund',
    description: 'Refunds an order.',
    input: objectOf({ orderId: { type: 'string' }, cents: { type: 'integer' } }),
    effect: 'once',
    permission,
    timeoutMs: 800,
    execute: (input, { idempotencyKey }) => {
      count(books, 'refund');
      const order = input as Pick<Refund, 'orderId' | 'cents'>; // The schema has let it through.
      const refund: Refund = { ...order, key: idempotencyKey };
      books.refunds.push(refund);
      return isDeaf ? never() : receipt(refund);
    },
    verify: (_input, { idempotencyKey }) => {
      const booked = books.refunds.find(({ key }) => key === idempotencyKey);
      return booked === undefined ? { happened: false } : { happened: true, result: receipt(booked) };
    },
  });
}

function objectOf(properties: Readonly<Record<string, { readonly type: string }>>): {
  readonly type: 'object';
  readonly [keyword: string]: unknown;
} {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

function count({ calls }: Books, name: string): void {
  calls.set(name, (calls.get(name) ?? 0) + 1);
}

function receipt({ orderId, cents }: Refund): string {
  return `Refunded ${cents} cents of order ${orderId}.`;
}

/** Too slow, and stops when it is cancelled: one that still ran would not be started again. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('Stopped')), { once: true });
  });
}

/** Ignores cancellation. It holds nothing, so that the process can end. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}
