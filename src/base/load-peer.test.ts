import { describe, expect, it } from 'vitest';
import { loadPeer } from './load-peer.ts';

describe('loadPeer()', () => {
  it('says what to install where the module is missing', () => {
    expect(loadPeer('no-such-module', { install: 'npm install no-such-module' })).toEqual({
      type: 'missing',
      message: '"no-such-module" is not installed: npm install no-such-module',
    });
  });

  it('says so where the module is there and cannot be loaded', () => {
    const peer = loadPeer('vitest/no-such-path', { install: 'npm install vitest' });
    expect(peer).toMatchObject({ type: 'missing' });
  });

  it('takes what it is given, and looks for nothing', () => {
    const given = {};
    const peer = loadPeer('no-such-module', { given, install: '' });
    expect(peer).toEqual({ type: 'loaded', module: given });
  });

  it('loads what is installed', () => {
    const peer = loadPeer('@opentelemetry/api', { install: '' });
    expect(peer).toMatchObject({ type: 'loaded', module: { trace: expect.anything() as unknown } });
  });
});
