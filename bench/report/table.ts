// The rows as a Markdown table that is readable as plain text, with failures explained below it.
import { BARE_PROXY } from '../contenders/contender.ts'
import type { Figure, Row } from './rows.ts'

export function tableOf(rows: readonly Row[], contenders: readonly string[]): string {
  const reasons: string[] = []
  const cell = (row: Row, contender: string): string => {
    const figure = row.figures[contender]
    if (figure === undefined) return '–'
    if ('failed' in figure) {
      const reason = `${contender}, ${row.label}: ${figure.failed.split('\n')[0]}`
      return `failed (${reasons.push(reason)})`
    }
    return figureText(figure, contender !== BARE_PROXY)
  }
  const lines = [
    ['', ...contenders],
    ...rows.map((row) => [
      `${row.label}, ${row.unit}`,
      ...contenders.map((name) => cell(row, name)),
    ]),
  ]
  const notes = [
    '± is half the distance between the smallest and the largest round; × is the share of the bare proxy’s figure in the same round.',
    '† marks figures with a round in which other programs used the machine, and used it again when that round was repeated.',
    '° marks figures of a contender whose core had time left: something else was the bottleneck there.',
    ...reasons.map((reason, index) => `(${index + 1}) ${reason}`),
  ]
  return `${alignedTable(lines)}\n\n${notes.map((note) => `- ${note}`).join('\n')}`
}

function figureText(figure: Figure, withRatio: boolean): string {
  const { value, spread, ratio, isHeldUp, isDisturbed } = figure
  const parts = [`${numberText(value)}${isDisturbed ? '†' : ''}`]
  if (spread !== undefined) parts.push(`±${Math.round(spread * 100)} %`)
  if (withRatio && ratio !== undefined) parts.push(`×${ratio.toFixed(2)}${isHeldUp ? '°' : ''}`)
  return parts.join(' ')
}

function numberText(value: number): string {
  const digits = Math.abs(value) < 10 ? 1 : 0
  return value.toLocaleString('en', { maximumFractionDigits: digits })
}

/** The first line is the header; the first column is text, the others are figures. */
export function alignedTable(lines: readonly (readonly string[])[]): string {
  const columns = lines[0]?.length ?? 0
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  )
  const written = lines.map((line) => {
    const cells = line.map((text, column) =>
      column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0),
    )
    return `| ${cells.join(' | ')} |`
  })
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  )
  return [written[0], `| ${rule.join(' | ')} |`, ...written.slice(1)].join('\n')
}
