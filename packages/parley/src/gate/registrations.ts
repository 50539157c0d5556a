import type { ResourceTemplate } from '@modelcontextprotocol/server';
import type { StatePolicy } from '../carrier/index.js';
import type { GatedMethod } from './events.js';

/** A registered thing of the SDK, as far as it is followed here. */
interface Updatable {
  update(updates: { name?: string | null; uri?: string | null; callback?: unknown }): void;
}

/**
 * Which handlers of a server are flows, and under which policy. The gate must know before it runs anything: a
 * state of a flow is nothing to a handler that was written by hand, and the other way round.
 */
export class Registrations {
  readonly #named = new Map<string, StatePolicy>();
  readonly #templates: { template: ResourceTemplate; policy: StatePolicy }[] = [];

  /** The policy of the flow that serves a request; undefined when what serves it is no flow. */
  find(method: GatedMethod, target: string): StatePolicy | undefined {
    if (method !== 'resources/read') return this.#named.get(nameKey(method, target));
    const uri = normalUri(target);
    if (uri === undefined) return undefined;
    const named = this.#named.get(nameKey(method, uri));
    return named ?? this.#templates.find(({ template }) => template.uriTemplate.match(uri) !== null)?.policy;
  }

  /** Adds a flow under a name or URI, and follows what the SDK's handle does to it. */
  addNamed(method: GatedMethod, name: string, policy: StatePolicy, registered: Updatable): void {
    this.#named.set(nameKey(method, name), policy);
    let current = name;
    follow(registered, ({ name: newName, uri, callback }) => {
      const renamed = method === 'resources/read' ? uri : newName;
      if (renamed !== undefined) this.#named.delete(nameKey(method, current));
      // A callback that is set on the SDK's handle is a handler written by hand.
      if (callback !== undefined) this.#named.delete(nameKey(method, current));
      else if (typeof renamed === 'string') this.#named.set(nameKey(method, renamed), policy);
      if (typeof renamed === 'string') current = renamed;
    });
  }

  /** Adds a flow under a URI template. */
  addTemplate(template: ResourceTemplate, policy: StatePolicy, registered: Updatable): void {
    const entry = { template, policy };
    this.#templates.push(entry);
    follow(registered, ({ name, callback }) => {
      if (name === null || callback !== undefined) this.#templates.splice(this.#templates.indexOf(entry), 1);
    });
  }
}

/** The SDK's `enable`, `disable` and `remove` all go through `update`. */
function follow(
  registered: Updatable,
  onUpdate: (updates: Parameters<Updatable['update']>[0]) => void,
): void {
  const update = registered.update.bind(registered);
  registered.update = (updates) => {
    update(updates);
    onUpdate(updates);
  };
}

function nameKey(method: GatedMethod, name: string): string {
  return `${method} ${name}`;
}

/** As the SDK looks resources up. */
function normalUri(uri: string): string | undefined {
  return URL.canParse(uri) ? new URL(uri).toString() : undefined;
}
