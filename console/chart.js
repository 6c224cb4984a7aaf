// The plot of failures over time, by category: stacked bars that can be zoomed. uPlot draws it; in a build without it there is only the table.
import uPlot from './uplot.js';
import { CATEGORIES, categoryChip, h, number, show, table, when } from './common.js';

export const canDraw = uPlot !== null;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();

/* Cumulated counts, the highest bar first: each bar is drawn over the higher one behind it. */
function stacked(data) {
  const sums = data.times.map(() => 0);
  const layers = CATEGORIES.map((category) => data.times.map((_, i) => (sums[i] += data.counts[category][i])));
  return [data.times, ...layers.reverse()];
}

/* Times of the axis: of the day, and the day itself where it begins. */
function timesOf(ticks, apart) {
  const two = (part) => String(part).padStart(2, '0');
  return ticks.map((second, i) => {
    const time = new Date(second * 1000);
    const day = (time.getMonth() + 1) + '-' + two(time.getDate());
    if (apart >= 86400) return day;
    const clock = two(time.getHours()) + ':' + two(time.getMinutes());
    return clock + (i && new Date(ticks[i - 1] * 1000).getDate() === time.getDate() ? '' : '\n' + day);
  });
}

function options(width, onScale) {
  const grid = { stroke: colour('line'), width: 1 };
  const axis = { stroke: colour('soft'), grid, ticks: grid, font: '12px ' + colour('sans') };
  return {
    width, height: 240, legend: { show: false }, padding: [8, 8, 0, 0],
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: true } },
    scales: { x: { time: true }, y: { range: (_, low, high) => [0, Math.max(4, high * 1.08)] } },
    axes: [{ ...axis, values: (plot, ticks, place, space, apart) => timesOf(ticks, apart) }, { ...axis, size: 52, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6, 1e7] }],
    series: [{}, ...[...CATEGORIES].reverse().map((category) => ({ label: category, fill: colour(category), stroke: colour(category), width: 0,
      points: { show: false }, paths: uPlot.paths.bars({ size: [0.86, 60], align: 1, gap: 0 }) }))],
    hooks: { setScale: [(plot, scale) => scale === 'x' && onScale(plot)] },
  };
}

/* One plot. It has data from `data.times[0]`, one bar each `data.step` seconds. */
export class Chart {
  constructor() {
    this.canvas = h('div', { class: 'canvas', role: 'img', 'aria-label': 'Failures over time by category; the table below has the same numbers' });
    const button = (name, label, zoom) => h('button', { type: 'button', class: 'slim', 'aria-label': label, title: label, click: zoom }, name);
    this.buttons = h('span', { class: 'legend', role: 'group', 'aria-label': 'Zoom' }, button('−', 'Zoom out', () => this.scale(2)), button('+', 'Zoom in', () => this.scale(0.5)),
      button('‹', 'Earlier', () => this.move(-0.5)), button('›', 'Later', () => this.move(0.5)), button('All', 'Show all', () => this.reset()));
    this.zoomed = false;
    this.watcher = new ResizeObserver(() => this.plot?.setSize({ width: this.width(), height: 240 }));
    this.theme = matchMedia('(prefers-color-scheme: dark)');
    this.repaint = () => this.data && this.draw(this.data, true);
    this.release = () => { this.held = false; };
    addEventListener('mouseup', this.release);
    this.theme.addEventListener('change', this.repaint);
  }

  width() {
    return Math.max(200, this.canvas.clientWidth);
  }

  whole() {
    return { min: this.data.times[0], max: this.data.times.at(-1) + this.data.step };
  }

  /* The range that is seen now; a test reads it from the element. */
  seen(plot) {
    const { min, max } = plot.scales.x;
    const whole = this.whole();
    this.zoomed = min > whole.min + 1e-6 || max < whole.max - this.data.step - 1e-6;
    Object.assign(this.canvas.dataset, { from: min, to: max, zoomed: this.zoomed });
  }

  /* `anew`: other data, or other colours. Otherwise the same data has grown, and the zoom stays as it is. A drag counts as a zoom, too. */
  draw(data, anew) {
    this.data = data;
    if (!canDraw) return;
    if (anew || !this.plot) {
      this.plot?.destroy();
      this.zoomed = false;
      this.plot = new uPlot(options(this.width(), (plot) => this.seen(plot)), stacked(data), this.canvas);
      this.plot.over.addEventListener('mousedown', () => { this.held = true; });
      this.plot.over.addEventListener('dblclick', () => this.reset());
      this.watcher.observe(this.canvas);
      this.reset();
      return;
    }
    const kept = { ...this.plot.scales.x };
    this.plot.setData(stacked(data), false);
    if (!this.held && !this.zoomed) this.reset();
    else this.plot.setScale('x', { min: kept.min, max: kept.max });
  }

  reset() {
    this.held = false;
    this.plot?.setScale('x', this.whole());
  }

  scale(factor) {
    if (!this.plot) return;
    const { min, max } = this.plot.scales.x;
    const whole = this.whole();
    const half = Math.max(this.data.step, (max - min) * factor / 2);
    const middle = (min + max) / 2;
    this.plot.setScale('x', { min: Math.max(whole.min, middle - half), max: Math.min(whole.max, middle + half) });
  }

  move(part) {
    if (!this.plot) return;
    const { min, max } = this.plot.scales.x;
    const whole = this.whole();
    const by = Math.min(Math.max((max - min) * part, whole.min - min), whole.max - max);
    this.plot.setScale('x', { min: min + by, max: max + by });
  }

  close() {
    this.watcher.disconnect();
    this.theme.removeEventListener('change', this.repaint);
    removeEventListener('mouseup', this.release);
    this.plot?.destroy();
    this.plot = null;
  }
}

/* The same as a table: times with failures, the newest first. */
export function chartTable(data, most = 200) {
  const rows = [];
  for (let i = data.times.length - 1; i >= 0 && rows.length < most; i--) {
    if (!CATEGORIES.some((category) => data.counts[category][i])) continue;
    rows.push(h('tr', {}, h('th', { scope: 'row' }, when(data.times[i] * 1000)), CATEGORIES.map((category) => h('td', { class: 'number' }, number(data.counts[category][i])))));
  }
  return rows.length ? table('Failures over time', ['From', ...CATEGORIES.map((category) => '#' + category)], rows) : h('p', { class: 'soft' }, 'No failures in this time.');
}

export function legend(data) {
  return show(h('span', { class: 'legend' }), CATEGORIES.map((category) => {
    const sum = data.counts[category].reduce((a, b) => a + b, 0);
    const mark = categoryChip(category);
    mark.append(' ' + number(sum));
    return mark;
  }));
}
