import type { Server, ServerContext } from '@modelcontextprotocol/server';
import type { StatePolicy, TokenCarrier } from '../carrier/index.js';
import type { RunHost } from '../flow/index.js';
import type { PrincipalParts } from '../seal/index.js';
import type { TaskMode } from './escalation.js';
import type { Emitter, ParleyEvents } from './events.js';
import type { Keeper } from './keeper.js';
import type { Settings } from './options.js';
import type { Registrations } from './registrations.js';
import type { RejectionLog } from './rejection-log.js';
import type { ServerTasks } from './tasks.js';

/** What a handler's author says of its states, and whether its calls are tasks. */
export interface FlowPolicy extends StatePolicy {
  readonly task?: TaskMode;
}

/** What the gates of one process share. */
export interface GateHost {
  readonly settings: Settings;
  readonly events: Emitter<ParleyEvents>;
  readonly rejections: RejectionLog;
  readonly principal: (
    ctx: ServerContext,
  ) => PrincipalParts | string | null | Promise<PrincipalParts | string | null>;
}

/** What one server's gate is made of. */
export interface GateParts {
  readonly carrier: TokenCarrier;
  readonly keeper: () => Keeper;
  readonly server: Server;
  readonly registrations: Registrations;
  readonly runHost: RunHost;
  readonly tasks: ServerTasks | undefined;
}
