/*
 * Whether code runs on behalf of a question: in a handler, or in what a handler began. Where the platform can say
 * (Node, and what has its `node:async_hooks`), a call that would wait for itself is found out. Browsers cannot.
 */

interface Asked {
  readonly of: object;
  readonly outer: Asked | undefined;
  /** Ends with the question: what a handler leaves running may do as it likes. */
  isOpen: boolean;
}

const storage = makeStorage();

function makeStorage() {
  const { process } = globalThis as { readonly process?: Partial<NodeJS.Process> };
  // No import: that would keep the module out of browsers.
  const hooks = process?.getBuiltinModule?.('node:async_hooks');
  return hooks === undefined ? undefined : new hooks.AsyncLocalStorage<Asked>();
}

/** Runs what asks somebody, for `of`. */
export async function whileAsking<T>(of: object, ask: () => Promise<T>): Promise<T> {
  const asked: Asked = { of, outer: storage?.getStore(), isOpen: true };
  try {
    return await (storage === undefined ? ask() : storage.run(asked, ask));
  } finally {
    asked.isOpen = false;
  }
}

/** Whether the caller is asked for `of` at this moment, directly or by way of others. `false` where nobody knows. */
export function isAskedFor(of: object): boolean {
  for (let asked = storage?.getStore(); asked !== undefined; asked = asked.outer) {
    if (asked.of === of && asked.isOpen) return true;
  }
  return false;
}
