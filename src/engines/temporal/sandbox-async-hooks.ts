/** Replaces Node's in the sandbox of a workflow, where no code of a user runs: there is nothing to distinguish. */
export class AsyncLocalStorage<Store> {
  getStore(): Store | undefined {
    return undefined;
  }

  run<Value>(_store: Store, code: () => Value): Value {
    return code();
  }
}
