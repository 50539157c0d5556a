import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';

/**
 * Looks of all plots. No label is cut: without a canvas, vega takes text for wider than it is. They have their own light ground, since GitHub shows the same picture on a dark page.
 */
const LOOKS = {
  background: '#ffffff',
  padding: 20,
  config: {
    font: 'system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif',
    title: { anchor: 'start', fontSize: 18, subtitleFontSize: 13, subtitleColor: '#57606a', offset: 16 },
    axis: {
      labelFontSize: 13,
      titleFontSize: 13,
      titleFontWeight: 'normal',
      gridColor: '#eaeef2',
      labelLimit: 0,
    },
    legend: { labelFontSize: 13, labelLimit: 0, symbolSize: 120 },
    view: { stroke: null },
    text: { fontSize: 13, color: '#1f2328' },
  },
} as const;

/** Draws a plot. */
export async function asSvg(spec: TopLevelSpec): Promise<string> {
  const compiled = compile({ ...LOOKS, ...spec });
  const view = new View(parse(compiled.spec), { renderer: 'none' });
  const svg = await view.toSVG();
  view.finalize();
  return `${svg}\n`;
}
