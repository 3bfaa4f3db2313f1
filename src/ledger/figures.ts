// A price as the books keep it: once per version, as JSON with every amount as decimal text.
import type { Fees, Price, Rates, Tier } from '../catalog/prices.ts'
import type { PriceRow } from './books.ts'

/** Prices are few and live long; spelling one out takes longer than a settlement's whole share of a batch. */
const rows = new WeakMap<Price, PriceRow>()

export function toPriceRow(price: Price): PriceRow {
  let row = rows.get(price)
  if (row === undefined) {
    const { version, ...figures } = price
    const text = JSON.stringify(figures, (_, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    )
    row = { version, figures: text }
    rows.set(price, row)
  }
  return row
}

export function toPrice(row: PriceRow): Price {
  const { rates, tiers, fees } = JSON.parse(row.figures) as {
    rates: Spelled<Rates>
    tiers: readonly { aboveInputTokens: number; rates: Spelled<Rates> }[]
    fees: Spelled<Fees>
  }
  return {
    version: row.version,
    rates: read(rates),
    tiers: tiers.map((tier): Tier => ({ ...tier, rates: read(tier.rates) })),
    fees: read(fees),
  }
}

type Spelled<Amounts> = { readonly [Name in keyof Amounts]: string | null }

function read<Amounts>(spelled: Spelled<Amounts>): Amounts {
  const entries = Object.entries<string | null>(spelled)
  return Object.fromEntries(
    entries.map(([name, amount]) => [name, amount === null ? null : BigInt(amount)]),
  ) as Amounts
}
