import { requireIn } from '../find-temporal.ts';
import type { Message } from './model.ts';

/** Answers one method. What it rejects with an `RpcError` is what the caller is told. */
export type Handler = (
  request: Message,
  call: { readonly signal: AbortSignal },
) => Promise<Message> | Message;

/** Status codes of gRPC. */
export const rpcCodes = {
  invalidArgument: 3,
  notFound: 5,
  alreadyExists: 6,
  failedPrecondition: 9,
  unavailable: 14,
} as const;

/** A refusal. */
export class RpcError extends Error {
  readonly code: number;
  constructor(code: keyof typeof rpcCodes, message: string) {
    super(message);
    this.code = rpcCodes[code];
  }
}

export interface RpcServer {
  readonly address: string;
  readonly close: () => void;
}

const service = 'temporal.api.workflowservice.v1.WorkflowService';

/** Serves methods of Temporal's own protocol on a port of this machine. */
export async function serveRpc(
  folder: string,
  handlers: Readonly<Record<string, Handler>>,
  address = '127.0.0.1:0',
): Promise<RpcServer> {
  const load = requireIn(folder);
  const grpc = load('@grpc/grpc-js') as Grpc;
  const { temporal } = load('@temporalio/proto') as { readonly temporal: ProtoNode };
  const types = temporal.root;
  const server = new grpc.Server({
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
  });
  for (const [name, handler] of Object.entries(handlers)) {
    const request = types.lookupType(`temporal.api.workflowservice.v1.${name}Request`);
    const response = types.lookupType(`temporal.api.workflowservice.v1.${name}Response`);
    const definition = {
      [name]: {
        path: `/${service}/${name}`,
        requestStream: false,
        responseStream: false,
        requestSerialize: (value: Message) => value,
        requestDeserialize: (bytes: Buffer) => request.toObject(request.decode(bytes), { longs: Number }),
        responseSerialize: (value: Message) =>
          Buffer.from(response.encode(response.fromObject(value)).finish()),
        responseDeserialize: (value: Message) => value,
      },
    };
    server.addService(definition, {
      [name]: (call: Call, reply: Reply) => void answer(handler, call, reply),
    });
  }
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(address, grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return { address: `127.0.0.1:${port}`, close: () => server.forceShutdown() };
}

async function answer(handler: Handler, call: Call, reply: Reply): Promise<void> {
  const controller = new AbortController();
  call.on('cancelled', () => controller.abort());
  try {
    reply(null, await handler(call.request, { signal: controller.signal }));
  } catch (error) {
    const code = error instanceof RpcError ? error.code : rpcCodes.failedPrecondition;
    reply({ code, details: error instanceof Error ? error.message : String(error) });
  }
}

interface Call {
  readonly request: Message;
  readonly on: (event: 'cancelled', listener: () => void) => void;
}

type Reply = (error: { readonly code: number; readonly details: string } | null, response?: Message) => void;

/** What is used of `@grpc/grpc-js`. */
interface Grpc {
  readonly Server: new (options: Readonly<Record<string, number>>) => {
    readonly addService: (definition: unknown, handlers: unknown) => void;
    readonly bindAsync: (
      address: string,
      credentials: unknown,
      done: (error: Error | null, port: number) => void,
    ) => void;
    readonly forceShutdown: () => void;
  };
  readonly ServerCredentials: { readonly createInsecure: () => unknown };
}

interface ProtoNode {
  readonly root: { readonly lookupType: (name: string) => ProtoType };
}

interface ProtoType {
  readonly decode: (bytes: Uint8Array) => unknown;
  readonly toObject: (message: unknown, options: { readonly longs: unknown }) => Message;
  readonly fromObject: (value: Message) => unknown;
  readonly encode: (message: unknown) => { readonly finish: () => Uint8Array };
}
