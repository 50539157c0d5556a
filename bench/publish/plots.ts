import type { TopLevelSpec } from 'vega-lite';
import {
  CONNECTIONS,
  ENTRY_SUBJECTS,
  FLOOR,
  POOLED_FLOW,
  scenarioOf,
  SDK_BY_HAND,
  WHOLE_TWO,
} from '../fixtures/entries.js';
import type { Report } from '../harness/report.js';
import { lineOf, linesOf } from './lookup.js';

const OURS = '#0969da';
const PEER = '#d4a72c';
const PEER_2 = '#a475f9';
const PLAIN = '#afb8c1';

/** The plots of `docs/performance.md`, by the name of their file. */
export function plots(report: Report): Readonly<Record<string, TopLevelSpec>> {
  return {
    'requests-by-entry': requestsByEntry(report),
    'latency-by-entry': latencyByEntry(report),
    'round-by-journal-length': roundByJournalLength(report),
    'seal-open-by-size': sealOpenBySize(report),
  };
}

/** A row for each subject, in the order of the values. */
const BY_NAME = {
  field: 'name',
  type: 'nominal',
  sort: null,
  title: null,
  axis: { ticks: false, domain: false, labelPadding: 8 },
} as const;

function requestsByEntry(report: Report): TopLevelSpec {
  const lines = linesOf(report, 'entries');
  const rateOf = (name: string): number =>
    1e6 / (lineOf(lines, scenarioOf(WHOLE_TWO, 'wall'), name)?.value.median ?? Number.NaN);
  const values = ENTRY_SUBJECTS.map(({ name }) => {
    const rate = rateOf(name);
    const ratio = (rate / rateOf(SDK_BY_HAND.name)).toFixed(1);
    const kind = name === POOLED_FLOW.name ? 'ours' : name === FLOOR.name ? 'floor' : 'peer';
    return { name, rate, label: `${Math.round(rate).toLocaleString('en')}  (${ratio}x)`, kind };
  });
  return {
    title: {
      text: 'Requests a second, by entry',
      subtitle: [
        `A tool that asks one question; one core serves, ${CONNECTIONS} connections. Longer is better.`,
        'In brackets: by the SDK entry with the tool written by hand.',
      ],
    },
    width: 560,
    height: { step: 44 },
    data: { values },
    encoding: {
      y: BY_NAME,
      x: {
        field: 'rate',
        type: 'quantitative',
        title: 'requests a second',
        axis: { format: ',d', tickCount: 6 },
      },
    },
    layer: [
      {
        mark: { type: 'bar', cornerRadiusEnd: 3, height: 28 },
        encoding: {
          color: {
            field: 'kind',
            type: 'nominal',
            scale: { domain: ['ours', 'peer', 'floor'], range: [OURS, PEER, PLAIN] },
            legend: null,
          },
        },
      },
      { mark: { type: 'text', align: 'left', dx: 6 }, encoding: { text: { field: 'label' } } },
    ],
  };
}

function latencyByEntry(report: Report): TopLevelSpec {
  const lines = linesOf(report, 'entries');
  const values = ENTRY_SUBJECTS.flatMap(({ name }) =>
    (['p50', 'p99'] as const).flatMap((measure) => {
      const line = lineOf(lines, scenarioOf(WHOLE_TWO, measure), name);
      if (line === undefined) return [];
      const { median: ms } = line.value;
      return [{ name, measure, ms, label: `${ms.toFixed(ms < 10 ? 2 : 1)} ms` }];
    }),
  );
  return {
    title: {
      text: 'Time of a response, by entry',
      subtitle: [
        `At full load of one core, ${CONNECTIONS} requests at a time on loopback. Shorter is better.`,
      ],
    },
    width: 560,
    height: { step: 24 },
    data: { values },
    encoding: {
      y: BY_NAME,
      yOffset: { field: 'measure', type: 'nominal', sort: null, scale: { domain: ['p50', 'p99'] } },
      x: { field: 'ms', type: 'quantitative', title: 'from request to response, ms' },
    },
    layer: [
      {
        mark: { type: 'bar', cornerRadiusEnd: 3 },
        encoding: {
          color: {
            field: 'measure',
            type: 'nominal',
            scale: { domain: ['p50', 'p99'], range: [OURS, '#a8c7fa'] },
            legend: { title: null, orient: 'top' },
          },
        },
      },
      { mark: { type: 'text', align: 'left', dx: 6 }, encoding: { text: { field: 'label' } } },
    ],
  };
}

function roundByJournalLength(report: Report): TopLevelSpec {
  const values = linesOf(report, 'journal-length').map(({ at, value }) => ({
    entries: at,
    micros: value.median,
    label: microsText(value.median),
  }));
  return {
    title: {
      text: 'A round, by the length of its journal',
      subtitle: ['Open, replay all entries, suspend on a question, seal. Lower is better.'],
    },
    width: 560,
    height: 280,
    data: { values },
    encoding: {
      x: {
        field: 'entries',
        type: 'quantitative',
        title: 'entries in the journal',
        axis: { values: values.flatMap(({ entries }) => entries ?? []), grid: false },
      },
      y: { field: 'micros', type: 'quantitative', title: 'µs a round' },
    },
    layer: [
      { mark: { type: 'line', color: OURS, strokeWidth: 2.5, point: { color: OURS, size: 70 } } },
      {
        mark: { type: 'text', dx: 12, dy: 4, align: 'left', baseline: 'middle' },
        encoding: { text: { field: 'label' } },
      },
    ],
  };
}

function sealOpenBySize(report: Report): TopLevelSpec {
  const compared = linesOf(report, 'seal-open').filter(({ subject }) => !subject.includes('WebCrypto'));
  const values = compared.map(({ scenario, subject, value }) => ({
    size: scenario,
    subject,
    micros: value.median,
    label: microsText(value.median),
  }));
  const domain = [...new Set(values.map(({ subject }) => subject))];
  return {
    title: {
      text: 'Seal and open a state, by size',
      subtitle: ['µs for both, one after the other; each size on a scale of its own. Shorter is better.'],
    },
    data: { values },
    facet: {
      row: {
        field: 'size',
        sort: null,
        title: 'size of the journal',
        header: {
          labelAngle: 0,
          labelAlign: 'left',
          labelFontSize: 13,
          titleFontSize: 13,
          titleFontWeight: 'normal',
        },
      },
    },
    spacing: 14,
    resolve: { scale: { x: 'independent' } },
    spec: {
      width: 520,
      height: { step: 20 },
      encoding: {
        y: { field: 'subject', type: 'nominal', sort: null, axis: null },
        x: { field: 'micros', type: 'quantitative', axis: null },
      },
      layer: [
        {
          mark: { type: 'bar', cornerRadiusEnd: 3 },
          encoding: {
            color: {
              field: 'subject',
              type: 'nominal',
              scale: { domain, range: [OURS, PEER, PEER_2] },
              legend: { title: null, orient: 'top', direction: 'vertical', columns: 1 },
            },
          },
        },
        { mark: { type: 'text', align: 'left', dx: 6 }, encoding: { text: { field: 'label' } } },
      ],
    },
  };
}

function microsText(micros: number): string {
  return `${micros < 10 ? micros.toFixed(1) : Math.round(micros).toLocaleString('en')} µs`;
}
