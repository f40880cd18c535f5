import { postgres } from '../../src/storage/postgres/index.ts';
import { describeMoves } from '../engines/moves.ts';
import { startPostgres } from './start-postgres.ts';

describeMoves('postgres', async () => {
  const server = await startPostgres();
  const store = postgres(server.address);
  return {
    place: () => ({ store }),
    close: async () => {
      await store.close();
      await server.stop();
    },
  };
});
