import { createMcpHandler } from '@modelcontextprotocol/server';
import {
  HEADERS,
  firstRound,
  secondBody,
  secondRound,
  wholeFlow,
  type Send,
} from '../fixtures/deploy-client.js';
import { styles, type Style } from '../fixtures/deploy-servers.js';
import type { Operation, Row } from '../harness/row.js';

const NAMES = {
  flow: 'parley',
  byHand: 'by hand, SDK codec with bind',
  noState: 'by hand, state neither sealed nor signed',
} as const satisfies Record<Style, string>;

function sendTo(style: Style): Send {
  const handler = createMcpHandler(styles[style](2));
  return async (body) => {
    const request = new Request('http://localhost/mcp', { method: 'POST', headers: HEADERS, body });
    return (await handler.fetch(request)).text();
  };
}

type MakeOperation = (send: Send) => Operation | Promise<Operation>;

const PHASES: Readonly<Record<string, MakeOperation>> = {
  'first round': (send) => () => firstRound(send),
  'second round': async (send) => {
    const body = secondBody(await firstRound(send));
    return () => secondRound(send, body);
  },
  'whole flow': (send) => () => wholeFlow(send),
};

export default {
  title: 'Whole requests through createMcpHandler, in process: a tool that asks one form, then ends',
  leavesOut: 'the network and node:http; making the Request and reading the Response count, for both',
  async measure(bench) {
    const sends = { flow: sendTo('flow'), byHand: sendTo('byHand'), noState: sendTo('noState') };
    for (const concurrency of bench.quick ? [16] : [1, 16]) {
      for (const [phase, make] of Object.entries(PHASES)) {
        const scenario = `${phase}, ${concurrency} at a time`;
        const subjects: Record<string, Operation> = {
          [NAMES.flow]: await make(sends.flow),
          [NAMES.byHand]: await make(sends.byHand),
        };
        if (phase === 'whole flow') subjects[NAMES.noState] = await make(sends.noState);
        const found = await bench.compare(scenario, subjects, { concurrency });
        bench.judge(scenario, 'throughput beside the tool by hand', found.ratio(NAMES.byHand), {
          atLeast: 1,
          unit: 'x',
        });
      }
    }
  },
} satisfies Row;
