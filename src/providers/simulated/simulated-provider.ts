import { defined } from '../../base/defined.ts';
import type { Provider } from '../provider-options.ts';
import { simulated } from './simulated.ts';

/** The embedded model under a name of the registry: `simulated:anything`. It takes none of a provider's options. */
export const simulatedProvider: Provider = Object.assign((model: string) => simulated({ name: model }), {
  provider: 'simulated',
  describe: (model: string) => {
    const { provider, name, capabilities, price } = simulated({ name: model });
    return { provider, name, capabilities, ...defined({ price }), keyVariables: [], nearest: [] };
  },
});
