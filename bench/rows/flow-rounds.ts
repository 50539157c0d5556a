import type { McpHttpHandler } from '@modelcontextprotocol/server';
import { HEADERS } from '../fixtures/deploy-client.js';
import { playSurvey, surveyByHand, surveyFlow } from '../fixtures/survey-servers.js';
import type { Operation, Row } from '../harness/row.js';

const ROUNDS = [1, 2, 3, 5, 10];
const ROUNDS_QUICK = [2, 10];

function playing(handler: McpHttpHandler, rounds: number): Operation {
  const send = async (body: string): Promise<string> => {
    const request = new Request('http://localhost/mcp', { method: 'POST', headers: HEADERS, body });
    return (await handler.fetch(request)).text();
  };
  return () => playSurvey(send, rounds - 1);
}

export default {
  title:
    'A flow by the number of its rounds, through createMcpHandler in process (µs a round, all rounds played)',
  leavesOut: 'the network and node:http; each round but the last asks one question',
  async measure(bench) {
    for (const at of bench.quick ? ROUNDS_QUICK : ROUNDS) {
      const peer = 'by hand, SDK codec with bind';
      const subjects = {
        parley: playing(surveyFlow(at - 1), at),
        [peer]: playing(surveyByHand(at - 1), at),
      };
      const scenario = `${at} ${at === 1 ? 'round' : 'rounds'}`;
      const found = await bench.compare(scenario, subjects, { per: at, at });
      if (at === 10)
        bench.judge(scenario, 'throughput beside the tool by hand', found.ratio(peer), {
          atLeast: 1,
          unit: 'x',
        });
    }
  },
} satisfies Row;
