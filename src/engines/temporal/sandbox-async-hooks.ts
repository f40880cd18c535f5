/** Stands in for Node's in the sandbox of a workflow, where no code of a user runs: there is nothing to tell apart. */
export class AsyncLocalStorage<Store> {
  getStore(): Store | undefined {
    return undefined;
  }

  run<Value>(_store: Store, code: () => Value): Value {
    return code();
  }
}
