import type { ResourceTemplate } from '@modelcontextprotocol/server';
import type { GatedMethod } from './events.js';

/** A registered thing of the SDK, as far as it is followed here. */
interface Updatable {
  update(updates: Updates): void;
}

interface Updates {
  readonly name?: string | null;
  readonly uri?: string | null;
  readonly template?: ResourceTemplate;
  readonly callback?: unknown;
}

/**
 * Under which names a server may have flows. The gate asks before it runs anything: a state of a flow that comes
 * for something else is rejected, and not left for a handler that was written by hand to take as no state at all.
 */
export class Registrations {
  readonly #named = new Set<string>();
  readonly #templates = new Set<ResourceTemplate>();

  /** Whether a flow may serve a request. With overlapping resource templates the SDK's order decides whether it does. */
  mayBeFlow(method: GatedMethod, target: string): boolean {
    if (method !== 'resources/read') return this.#named.has(`${method} ${target}`);
    if (!URL.canParse(target)) return false;
    const uri = new URL(target).toString(); // as the SDK looks resources up
    if (this.#named.has(`${method} ${uri}`)) return true;
    return [...this.#templates].some((template) => template.uriTemplate.match(uri) !== null);
  }

  /** Adds a flow under a name or URI, and follows what is done to it through the SDK's handle. */
  addNamed(method: GatedMethod, name: string, registered: Updatable): void {
    let current: string | undefined = `${method} ${name}`;
    this.#named.add(current);
    follow(registered, ({ name: newName, uri, callback }) => {
      const renamed = method === 'resources/read' ? uri : newName;
      if (current === undefined || (renamed === undefined && callback === undefined)) return;
      this.#named.delete(current);
      // A callback that is set on the handle is a handler written by hand: from then on this is no flow.
      current = callback !== undefined || renamed === null ? undefined : `${method} ${renamed ?? ''}`;
      if (current !== undefined) this.#named.add(current);
    });
  }

  /** Adds a flow under a URI template. */
  addTemplate(template: ResourceTemplate, registered: Updatable): void {
    let current: ResourceTemplate | undefined = template;
    this.#templates.add(current);
    follow(registered, ({ name, template: changed, callback }) => {
      if (current === undefined) return;
      this.#templates.delete(current);
      current = name === null || callback !== undefined ? undefined : (changed ?? current);
      if (current !== undefined) this.#templates.add(current);
    });
  }
}

/** The SDK's `enable`, `disable` and `remove` all go through `update`. */
function follow(registered: Updatable, onUpdate: (updates: Updates) => void): void {
  const update = registered.update.bind(registered);
  registered.update = (updates) => {
    update(updates);
    onUpdate(updates);
  };
}
