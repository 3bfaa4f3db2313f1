// Output of the command line: JSON or text on stdout, everything else on stderr. Formats tables, blocks, money and
// times for people.
import { styleText } from 'node:util'
import { formatUsd, type Nanodollars } from '../../core/money.ts'
import { isPlain } from '../../core/text.ts'
import { timeDistance } from '../../core/units.ts'

export function printText(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

/** Something the caller should know although the command succeeded. */
export function printNote(text: string): void {
  printError(`note: ${text}`)
}

/** A problem that does not stop the command. */
export function printWarning(text: string): void {
  printError(`warning: ${text}`)
}

/** Help for the person at the terminal; programs read stdout. */
export function printHint(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Messages quote arguments, configured names and the answers of other servers, which may be of any length. */
export function printError(text: string): void {
  const lines = text.split('\n').map((line) => harmless(line).replaceAll(ENDLESS_WORD, '$1…'))
  process.stderr.write(`tollgate: ${lines.join('\n')}\n`)
}

const ENDLESS_WORD = /(\S{300})\S+/gu

/** Its title, the text of a row, and where it is aligned if not on the left. */
export type Column<Row> = readonly [title: string, of: (row: Row) => string, align?: 'right']

/** Rows under their titles, each column as wide as it needs to be. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = [
    columns.map(([title]) => title),
    ...rows.map((row) => columns.map(([, of]) => harmless(of(row)))),
  ]
  const widths = columns.map((_, index) =>
    cells.reduce((most, line) => Math.max(most, widthOf(line[index] ?? '')), 0),
  )
  const lines = cells.map((line) =>
    line
      .map((cell, index) => pad(cell, widths[index] ?? 0, columns[index]?.[2]))
      .join('  ')
      .trimEnd(),
  )
  const [titles = '', ...body] = lines
  return [bold(titles), ...body].join('\n')
}

/** Lines under a title; nothing without lines. */
export function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines]
}

/** Names and values, one pair per line; pairs without a value are left out. */
export function block(pairs: readonly (readonly [string, string | null])[]): string {
  const shown = pairs.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
  const width = shown.reduce((most, [name]) => Math.max(most, widthOf(name)), 0)
  return shown
    .map(([name, value]) => `  ${pad(name, width)}  ${harmless(value)}`.trimEnd())
    .join('\n')
}

export function bold(text: string): string {
  return styleText('bold', text, { stream: process.stdout })
}

export function usd(amount: Nanodollars | null): string {
  return amount === null ? 'none' : `${formatUsd(amount)} USD`
}

/** `15 %`, of a part such as 0.15. */
export function percentText(part: string): string {
  return `${Math.round(Number(part) * 1_000_000) / 10_000} %`
}

/** `2026-12-01 00:00:00 UTC (in 15 days)` */
export function moment(at: number, now: number): string {
  return `${exactTime(at)} (${relativeTime(at, now)})`
}

export function exactTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

export function relativeTime(at: number, now: number): string {
  const { unit, count } = timeDistance(at - now)
  if (count === 0) return 'now'
  // Intl says the same, but a process needs 40 ms for its first use.
  const distance = `${Math.abs(count)} ${unit}${Math.abs(count) === 1 ? '' : 's'}`
  return count > 0 ? `in ${distance}` : `${distance} ago`
}

/** Others choose names, such as that of the model they ask for, and a terminal obeys control characters. */
function harmless(text: string): string {
  return text.replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '�')
}

function pad(text: string, width: number, align?: 'right'): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)))
  return align === 'right' ? space + text : text + space
}

/** In terminal columns: a visible character takes one, or two if it is East Asian or an emoji. */
function widthOf(text: string): number {
  if (isPlain(text)) return text.length
  graphemes ??= new Intl.Segmenter('en')
  return [...graphemes.segment(text)].reduce(
    (width, { segment }) => width + (WIDE.test(segment) ? 2 : 1),
    0,
  )
}

/** Made when it is first needed, which takes 20 ms. */
let graphemes: Intl.Segmenter | undefined
const WIDE =
  /^(\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\u3000-\u303e\uff01-\uff60\uffe0-\uffe6])|\ufe0f/u
