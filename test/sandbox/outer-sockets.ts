import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import path from 'node:path';

/** Where the sockets are made, and where connections are counted. */
interface Surroundings {
  readonly root: string;
  readonly outside: string;
  readonly abstractName: string;
  readonly counts: { inside: number };
}

/** Sockets that others have in the workspace, and those for datagrams, which Node cannot make. */
export async function openSockets({ root, outside, abstractName, counts }: Surroundings): Promise<{
  readonly datagrams: () => readonly string[];
  readonly close: () => Promise<void>;
}> {
  const stream = await listen(() => (counts.inside += 1), { path: path.join(root, 'inside.sock') });
  const files = [path.join(root, 'inside.dgram'), path.join(outside, 'dgram')];
  const log = path.join(outside, 'datagrams');
  for (const file of [...files, log]) rmSync(file, { force: true });
  const receiver = spawn('perl', ['-MSocket', '-MIO::Select', '-e', receive, log, ...files, abstractName], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await Promise.race([once(receiver.stdout, 'data'), once(receiver, 'exit')]);
  for (const file of [...files, path.join(root, 'inside.sock')]) chmodSync(file, 0o777);
  return {
    datagrams: () => readFileSync(log, 'utf8').split('\n'),
    close: async () => {
      stream.close();
      receiver.kill('SIGKILL');
      await once(receiver, 'exit');
    },
  };
}

/** Binds a socket file for each argument, and an abstract name for the last, and writes down what comes. */
const receive = `
my ($log, @names) = @ARGV; my $abstract = pop @names; my $all = IO::Select->new();
open(my $out, ">", $log); select($out); $| = 1;
for my $at ((map { pack_sockaddr_un($_) } @names), pack("S a*", 1, "\\0$abstract-dgram")) {
  socket(my $s, 1, 2, 0); bind($s, $at) or die "bind: $!"; $all->add($s);
}
syswrite(STDOUT, "ready");
while (1) { for my $s ($all->can_read()) { recv($s, my $t, 100, 0); print "$t\\n" } }
`;

export async function listen(
  count: () => void,
  where: { readonly path: string } | { readonly port: number; readonly host: string },
): Promise<Server> {
  const server = createServer((socket) => {
    count();
    socket.destroy();
  });
  server.listen(where);
  await once(server, 'listening');
  return server;
}
