import { describe, expect, it } from 'vitest';
import {
  loadFlow,
  Stepper,
  TaskCancelled,
  TaskGone,
  type SavedFlow,
  type Step,
  type StepperOptions,
} from '../../src/client/index.js';
import {
  CALL,
  connectTo,
  failureOf,
  interim,
  scripted,
  testClock,
  textForm,
  URL_OF_SERVER,
} from './harness.js';
import { taskServer } from './servers/tasks.js';
import { asks, completed, look, looking, methods, text, TASK_ID } from './task-script.js';

const options = (more: Partial<StepperOptions> = {}): StepperOptions => ({
  server: { url: URL_OF_SERVER },
  kinds: ['form'],
  clock: testClock(),
  ...more,
});

function flowIn(step: Step): SavedFlow {
  if (step.type !== 'pending') throw new Error('it has ended');
  // Nothing of a step is needed but what JSON carries.
  return loadFlow(JSON.stringify(step.flow));
}

const fit = (value: string) => ({ action: 'accept', content: { text: value } }) as const;

describe('a task, one request at a time', () => {
  it('looks where no answers are given, and sends some where some are (TASK-21)', async () => {
    const { create } = taskServer((task) => {
      const open = ['a', 'b'].filter((key) => task.answer(key) === undefined);
      if (open.length === 0) task.complete(text('done'));
      else task.ask(Object.fromEntries(open.map((key) => [key, textForm(key)])));
    });
    const { client, sent } = await connectTo(create);
    const stepper = () => new Stepper(client, options());
    const seeded = flowIn(await stepper().begin(CALL));
    expect(seeded).toMatchObject({ round: 1, questions: [], task: { status: 'input_required' } });
    const asking = flowIn(await stepper().next(seeded));
    expect(asking).toMatchObject({ round: 2, questions: [{ key: 'a' }, { key: 'b' }] });
    expect(flowIn(await stepper().next(asking))).toEqual(asking);
    const half = flowIn(await stepper().next(asking, { b: fit('B') }));
    expect(half).toMatchObject({ questions: [{ key: 'a' }], task: { answered: ['b'] } });
    const looked = flowIn(await stepper().next(half));
    expect(looked).toMatchObject({ round: 2, questions: [{ key: 'a' }] });
    const all = flowIn(await stepper().next(looked, new Map([['a', fit('A')]])));
    expect(all).toMatchObject({ questions: [], task: { answered: ['b', 'a'] } });
    expect(await stepper().next(all)).toMatchObject({ type: 'result', result: text('done') });
    expect(methods(sent)).toEqual(['tools/call', 'get', 'get', 'update', 'get', 'update', 'get']);
  });

  it('is driven by the loop that drives rounds', async () => {
    const { client } = await scripted(({ method }, nth) => {
      if (nth === 1) return interim({ inputRequests: { q: textForm() }, requestState: 's' });
      if (method === 'tools/call') return { ...look(), resultType: 'task' };
      if (method === 'tasks/update') return { resultType: 'complete' };
      return nth === 3 ? asks({ q: textForm() }) : completed();
    });
    const stepper = new Stepper(client, options());
    let step: Step = await stepper.begin(CALL);
    while (step.type === 'pending') {
      const answers = new Map(step.flow.questions.map(({ key }) => [key, fit('x')]));
      step = await stepper.next(step.flow, answers);
    }
    expect(step.result).toMatchObject(text('done'));
  });

  it('sends no answer that does not fit, was given before, or was not asked for', async () => {
    const { client, sent } = await looking(() => asks({ q: textForm() }));
    const stepper = new Stepper(client, options());
    const flow = flowIn(await stepper.next(flowIn(await stepper.begin(CALL))));
    const failures = [
      [{ q: { action: 'accept', content: {} } }, 'answer_refused'],
      [{ x: fit('x') }, 'configuration'],
    ] as const;
    for (const [answers, code] of failures) {
      expect(await failureOf(stepper.next(flow, answers))).toMatchObject({ code });
    }
    const answered = flowIn(await stepper.next(flow, { q: fit('x') }));
    const again = flowIn(await stepper.next(answered));
    expect(again.questions).toEqual([]);
    expect(await failureOf(stepper.next(again, { q: fit('x') }))).toMatchObject({ code: 'configuration' });
    expect(sent.filter(({ method }) => method === 'tasks/update')).toHaveLength(1);
  });

  it('throws what it ends with', async () => {
    const ends: [unknown, unknown][] = [
      [look({ status: 'cancelled' }), TaskCancelled],
      [{ code: -32_602, message: 'unknown' }, TaskGone],
    ];
    for (const [shown, type] of ends) {
      const { client } = await looking(() => shown);
      const stepper = new Stepper(client, options());
      expect(await failureOf(stepper.next(flowIn(await stepper.begin(CALL))))).toBeInstanceOf(type);
    }
    const { client } = await looking(() => look({ status: 'failed', error: { code: 7, message: 'no' } }));
    const stepper = new Stepper(client, options());
    const failure = await failureOf(stepper.next(flowIn(await stepper.begin(CALL))));
    expect(failure).toMatchObject({ code: 7, message: 'no' });
  });

  it('a look that failed can be done again with the same flow', async () => {
    const { client } = await looking((nth) => (nth === 1 ? new Response('', { status: 503 }) : completed()));
    const stepper = new Stepper(client, options());
    const flow = flowIn(await stepper.begin(CALL));
    await failureOf(stepper.next(flow));
    expect(await stepper.next(flow)).toMatchObject({ type: 'result' });
  });

  it('cancels by tasks/cancel (TASK-25)', async () => {
    const { create, tasks } = taskServer((task) => {
      if (task.status !== 'cancelled') task.working();
    });
    const { client, sent } = await connectTo(create);
    const stepper = new Stepper(client, options());
    const flow = flowIn(await stepper.begin(CALL));
    await stepper.cancel(flow);
    expect(methods(sent)).toEqual(['tools/call', 'cancel']);
    expect([...tasks.values()].map(({ status }) => status)).toEqual(['cancelled']);
    expect(await failureOf(stepper.next(flow))).toBeInstanceOf(TaskCancelled);
    tasks.clear();
    expect(await failureOf(stepper.cancel(flow))).toBeInstanceOf(TaskGone);
  });

  it('has nothing to cancel between rounds, nor over an earlier revision', async () => {
    const { client, sent } = await scripted(() => interim({ requestState: 's' }));
    const stepper = new Stepper(client, options());
    const flow = flowIn(await stepper.begin(CALL));
    expect(await failureOf(stepper.cancel(flow))).toMatchObject({ code: 'configuration' });
    expect(sent).toHaveLength(1);

    const task = { ...look(), resultType: 'task' };
    const modern = new Stepper((await scripted(() => task)).client, options());
    const saved = flowIn(await modern.begin(CALL));
    const { create } = taskServer((each) => each.working());
    const legacy = await connectTo(create, undefined, { mode: 'legacy' });
    const old = new Stepper(legacy.client, options());
    for (const step of [old.next(saved), old.cancel(saved)]) {
      expect(await failureOf(step)).toMatchObject({ code: 'configuration' });
    }
    expect(saved.task?.id).toBe(TASK_ID);
  });
});
