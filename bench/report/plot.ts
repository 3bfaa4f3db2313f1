// The rates as a plot: for every workload one bar per gateway, as long as its share of the bare proxy's rate.
import { BARE_PROXY, UPSTREAM } from '../contenders/contender.ts'
import type { Row } from './rows.ts'
import { figureOf } from './rows.ts'

const COLOURS = ['#1f6feb', '#8250df', '#57606a', '#d4760a', '#1a7f37', '#bf3989']
const BAR = 12
const GROUP_GAP = 14
const LEFT = 250
const WIDTH = 900
const TOP = 60
/** Refusals are many times as fast as a proxy: such a bar is cut off with an arrow. */
const RATIO_MAX = 2
const UNIT = (WIDTH - LEFT - 80) / RATIO_MAX

export function plotOf(rows: readonly Row[], contenders: readonly string[]): string {
  const names = contenders.filter((name) => name !== UPSTREAM && name !== BARE_PROXY)
  const parts: string[] = []
  let y = TOP
  for (const row of rows.filter(({ isRate }) => isRate)) {
    const bars = names.flatMap((name, index) => {
      const ratio = figureOf(row, name)?.ratio
      return ratio === undefined ? [] : [{ ratio, colour: COLOURS[index % COLOURS.length] ?? '' }]
    })
    if (bars.length === 0) continue
    parts.push(text({ x: LEFT - 10, y: y + (bars.length * BAR) / 2 + 4, end: true }, row.label))
    for (const { ratio, colour } of bars) {
      const width = Math.min(ratio, RATIO_MAX) * UNIT
      parts.push(
        `<rect x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="${BAR - 2}" fill="${colour}"/>`,
        text(
          { x: LEFT + width + 5, y: y + BAR - 3, size: 10 },
          ratio > RATIO_MAX ? `→ ${ratio.toFixed(2)}` : ratio.toFixed(2),
        ),
      )
      y += BAR
    }
    y += GROUP_GAP
  }
  return svg(y + 20, [...legend(names), ...floorLine(y), ...parts])
}

function legend(names: readonly string[]): readonly string[] {
  const step = (WIDTH - 40) / names.length
  return names.flatMap((name, index) => [
    `<rect x="${20 + index * step}" y="12" width="12" height="12" fill="${COLOURS[index % COLOURS.length]}"/>`,
    text({ x: 38 + index * step, y: 22 }, name),
  ])
}

function floorLine(bottom: number): readonly string[] {
  const x = LEFT + UNIT
  return [
    `<line x1="${x}" y1="${TOP - 8}" x2="${x}" y2="${bottom}" stroke="#57606a" stroke-dasharray="4 3"/>`,
    text({ x: x - 45, y: TOP - 14 }, 'the bare proxy'),
  ]
}

type Place = {
  readonly x: number
  readonly y: number
  readonly size?: number
  readonly end?: boolean
}

function text({ x, y, size = 12, end = false }: Place, words: string): string {
  const anchor = end ? ' text-anchor="end"' : ''
  // Keeps the bare proxy's line from crossing the text.
  const halo = 'paint-order="stroke" stroke="#ffffff" stroke-width="3"'
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="${size}"${anchor} ${halo}>${words}</text>`
}

function svg(height: number, parts: readonly string[]): string {
  const title = 'Requests and events per second, as shares of a bare proxy on Node'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" fill="#1f2328">
<title>${title}</title>
<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>
${parts.join('\n')}
</svg>
`
}
