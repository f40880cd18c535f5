import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startDeafServer } from './deaf-server.ts';

describe('startDeafServer()', () => {
  it('lets no connection come about, and lets go when it is closed', async () => {
    const deaf = await startDeafServer();
    const socket = connect({ port: deaf.port, host: '127.0.0.1' });
    let seen = 'nothing';
    socket.on('connect', () => (seen = 'connected'));
    socket.on('error', (error: NodeJS.ErrnoException) => (seen = error.code ?? error.message));
    await new Promise((resolve) => {
      setTimeout(resolve, 300);
    });
    expect(seen).toBe('nothing');
    socket.destroy();
    await deaf.close();
    const after = connect({ port: deaf.port, host: '127.0.0.1' });
    const refused = await new Promise((resolve) => {
      after.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    });
    expect(refused).toBe('ECONNREFUSED');
  });
});
