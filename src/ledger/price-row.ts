// A price as the books keep it: once per version, as text.
import { componentsOf, parsePrice, type Price } from '../catalog/prices.ts'
import type { PriceRow } from './books.ts'

/** A cache: prices are few and live long, and writing one out takes longer than a settlement's share of a batch. */
const rows = new WeakMap<Price, PriceRow>()

export function toPriceRow(price: Price): PriceRow {
  let row = rows.get(price)
  if (row === undefined) {
    row = { version: price.version, figures: componentsOf(price) }
    rows.set(price, row)
  }
  return row
}

export function toPrice(row: PriceRow): Price {
  return { ...parsePrice(row.figures), version: row.version }
}
