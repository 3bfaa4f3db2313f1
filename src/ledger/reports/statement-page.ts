// A statement as one page of HTML, to be read on a screen and printed on paper. It stands alone: no script, nothing to
// load. Every text in it may have been chosen by somebody else, so all are escaped.
import { perMillion } from '../../catalog/models.ts'
import { formatUsd } from '../../core/money.ts'
import {
  adjustmentOf,
  discountOf,
  type Adjustment,
  type Statement,
  type StatementLine,
  type StatementSums,
} from './statement.ts'

/** Already escaped. */
class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Markup | readonly Markup[]

/** Escapes whatever is put into it. */
function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const markup = (part: Part): string => {
    if (part instanceof Markup) return part.text
    if (typeof part === 'object') return part.map(({ text }) => text).join('')
    return String(part).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  }
  return new Markup(
    texts.map((text, index) => text + (index in parts ? markup(parts[index] ?? '') : '')).join(''),
  )
}

export function statementPage(statement: Statement): string {
  const { group, month, startsAt, endsAt, madeAt, lines, total, adjustments } = statement
  const time = timeIn(group.timezone)
  const isComplete = madeAt >= endsAt
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'"
        />
        <title>${group.name}, ${month}</title>
        <style>
          ${new Markup(STYLE)}
        </style>
      </head>
      <body>
        <header>
          <h1>${group.name}</h1>
          <p>
            Statement for <strong>${monthName(month)}</strong>, from ${time(startsAt)} to
            ${time(endsAt)} (${group.timezone})
          </p>
        </header>
        <dl>
          ${figure('Cost', `${formatUsd(total.costNanodollars)} USD`)}
          ${figure('Requests', number(total.requests))} ${figure('Failed', number(total.failed))}
          ${figure('Input tokens', number(total.inputTokens))}
          ${figure('Output tokens', number(total.outputTokens))}
        </dl>
        ${isComplete ? html`` : html`<p class="note">The month has not ended: this is what was used until ${time(madeAt)}.</p>`}
        <h2>By key and model</h2>
        ${lines.length === 0 ? html`<p>Nothing was used.</p>` : linesTable(statement)}
        ${statement.prices.size === 0 ? html`` : pricesTable(statement)}
        ${adjustments.length === 0 ? html`` : adjustmentsTable(statement, time)}
        <footer>
          Made at ${time(madeAt)} by Tollgate from every single request of ${group.id}. Times are
          those at which requests were admitted. Refused calls cost nothing and are not listed. All
          amounts are in USD.
        </footer>
      </body>
    </html> `
  return page.text
}

function figure(name: string, value: string): Markup {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`
}

function linesTable(statement: Statement): Markup {
  const { lines, total } = statement
  const hasAdjustments = statement.adjustments.length > 0
  const adjusted = (amount: bigint): Markup =>
    hasAdjustments ? html`<td>${amount === 0n ? '' : formatUsd(amount)}</td>` : html``
  const all = lines.reduce((sum, line) => sum + adjustmentOf(statement, line), 0n)
  return html`<table>
    <thead>
      <tr>
        <th>Key</th>
        <th>Owner</th>
        <th>Model</th>
        <th>Price</th>
        <th>Discount</th>
        <th class="n">Requests</th>
        <th class="n">Failed</th>
        <th class="n">Input</th>
        <th class="n">Cached</th>
        <th class="n">Output</th>
        ${hasAdjustments ? html`<th class="n">Adjusted by</th>` : html``}
        <th class="n">USD</th>
      </tr>
    </thead>
    <tbody>
      ${lines.map(
        (line) =>
          html`<tr>
            <th>${nameOf(statement, line)}</th>
            <td class="t">${statement.keys.get(line.keyId)?.owner ?? ''}</td>
            <td class="t">${line.model}</td>
            <td class="t">${line.priceVersion ?? ''}</td>
            <td class="t">${discountOf(statement, line)}</td>
            ${counts(line)}${adjusted(adjustmentOf(statement, line))}
            <td>${formatUsd(line.costNanodollars)}</td>
          </tr> `,
      )}
    </tbody>
    <tfoot>
      <tr>
        <th colspan="5">Total</th>
        ${counts(total)}${adjusted(all)}
        <td>${formatUsd(total.costNanodollars)}</td>
      </tr>
    </tfoot>
  </table>`
}

function counts(sums: StatementSums): Markup {
  const cells = [sums.requests, sums.failed, sums.inputTokens, sums.cachedTokens, sums.outputTokens]
  return html`${cells.map((count) => html`<td>${number(count)}</td>`)}`
}

function pricesTable(statement: Statement): Markup {
  const prices = [...statement.prices].toSorted(([one], [other]) => (one < other ? -1 : 1))
  return html`<h2>Prices, in USD per million tokens</h2>
    <table>
      <thead>
        <tr>
          <th>Price</th>
          <th>Discount, contained</th>
          <th class="n">Input</th>
          <th class="n">From a cache</th>
          <th class="n">To a cache</th>
          <th class="n">Output</th>
        </tr>
      </thead>
      <tbody>
        ${prices.map(
          ([priceVersion, { rates }]) =>
            html`<tr>
              <th>${priceVersion}</th>
              <td class="t">${discountOf(statement, { priceVersion })}</td>
              <td>${perMillion(rates.input)}</td>
              <td>${perMillion(rates.cached)}</td>
              <td>${perMillion(rates.cacheWriteShort)}</td>
              <td>${perMillion(rates.output)}</td>
            </tr> `,
        )}
      </tbody>
    </table>`
}

function adjustmentsTable(statement: Statement, time: (at: number) => string): Markup {
  const row = (each: Adjustment): Markup =>
    html`<tr>
      <th>${time(each.at)}</th>
      <td class="t">${nameOf(statement, each)}</td>
      <td class="t">${each.requestId}</td>
      <td>${formatUsd(each.beforeNanodollars)}</td>
      <td>${formatUsd(each.afterNanodollars)}</td>
      <td class="t">${each.actor}</td>
      <td class="t">${each.reason}</td>
    </tr> `
  return html`<h2>Adjustments, contained in the costs</h2>
    <table>
      <thead>
        <tr>
          <th>When</th>
          <th>Key</th>
          <th>Request</th>
          <th class="n">From</th>
          <th class="n">To</th>
          <th>By</th>
          <th>Why</th>
        </tr>
      </thead>
      <tbody>
        ${statement.adjustments.map(row)}
      </tbody>
    </table>`
}

function nameOf({ keys }: Statement, { keyId }: Pick<StatementLine, 'keyId'>): string {
  return keys.get(keyId)?.name ?? keyId
}

function number(count: number): string {
  return count.toLocaleString('en')
}

function monthName(month: string): string {
  return new Date(`${month}-01T00:00:00Z`).toLocaleDateString('en', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  })
}

/** `2026-11-01 00:00`. */
function timeIn(timeZone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', {
    dateStyle: 'short',
    timeStyle: 'short',
    timeZone,
  })
  return (at) => format.format(at)
}

const STYLE = `
:root { color-scheme: light; }
body { font: 14px/1.45 system-ui, sans-serif; color: #1a1d21; background: #fff; max-width: 68rem; margin: 2rem auto; padding: 0 1.5rem; }
h1 { margin: 0; font-size: 1.6rem; }
h2 { margin: 2rem 0 .5rem; font-size: 1.05rem; break-after: avoid; }
header p { margin: .25rem 0 0; }
dl { display: flex; flex-wrap: wrap; gap: .5rem 2.5rem; margin: 1.5rem 0; }
dt { color: #565d66; }
dd { margin: 0; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.note { padding: .5rem .75rem; border: 1px solid #c9b26b; background: #fff9e6; }
table { width: 100%; border-collapse: collapse; font-size: .85rem; }
thead { display: table-header-group; }
tr { break-inside: avoid; }
th, td { padding: .3rem .5rem; border-bottom: 1px solid #dfe2e6; vertical-align: top; overflow-wrap: anywhere; }
th, .t { text-align: left; font-weight: 400; }
thead th { font-weight: 600; border-bottom-color: #1a1d21; overflow-wrap: normal; }
td, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.t { white-space: normal; }
tfoot th, tfoot td { font-weight: 600; border-top: 1px solid #1a1d21; border-bottom: 0; }
footer { margin-top: 2rem; color: #565d66; font-size: .8rem; }
@page { size: A4 landscape; margin: 14mm; }
@media print { body { max-width: none; margin: 0; padding: 0; font-size: 11px; } }
@media (max-width: 48rem) { table { display: block; overflow-x: auto; } }
`
