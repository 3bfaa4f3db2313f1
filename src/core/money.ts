// Money as integers: nano-USD in the books, pico-USD per token in prices. Amounts are never floats and never rounded
// down, so they can be slightly too large but never too small.

/** 1 USD = 1,000,000,000 nano-USD. */
export type Nanodollars = bigint
/** 1 USD = 1,000,000,000,000 pico-USD; prices per token are whole numbers of them. */
export type Picodollars = bigint

export const NANO_PER_USD = 1_000_000_000n
const DECIMALS = 9
export const PICO_PER_NANO = 1_000n

/** The largest budget anyone may set: 9,000,000 USD. */
export const BUDGET_MAX: Nanodollars = 9_000_000n * NANO_PER_USD

/** Reads a decimal amount of USD such as `12`, `0.5` or `0.000000001`. Throws a sentence a person can act on. */
export function parseUsd(text: string): Nanodollars {
  const match = /^(\d{1,16})(?:\.(\d{1,9}))?$/.exec(text.trim())
  if (match === null) {
    throw new RangeError(
      `"${text}" is not an amount in USD: use digits with at most 9 decimals, such as 12.50`,
    )
  }
  return BigInt(match[1] ?? '') * NANO_PER_USD + BigInt((match[2] ?? '').padEnd(DECIMALS, '0'))
}

/** Reads a budget: an amount of USD between 0 and BUDGET_MAX. */
export function parseBudget(text: string): Nanodollars {
  const amount = parseUsd(text)
  if (amount > BUDGET_MAX) {
    throw new RangeError(`a budget can be at most ${formatUsd(BUDGET_MAX)} USD, not ${text}`)
  }
  return amount
}

/** USD as a decimal string with at most 9 places and no trailing zeros: `12.5`, `0`, `-0.000000001`. */
export function formatUsd(amount: Nanodollars): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(DECIMALS + 1, '0')
  const point = digits.length - DECIMALS
  let end = digits.length
  while (end > point && digits[end - 1] === '0') end--
  const text = end === point ? '' : `.${digits.slice(point, end)}`
  return `${amount < 0n ? '-' : ''}${digits.slice(0, point)}${text}`
}

/** The lower of two limits; null = no limit. */
export function tighterLimit(
  one: Nanodollars | null,
  other: Nanodollars | null,
): Nanodollars | null {
  if (one === null || other === null) return one ?? other
  return one < other ? one : other
}

/** The one place where a cost is rounded, and it is rounded up. */
export function roundUpToNanodollars(amount: Picodollars): Nanodollars {
  if (amount < 0n) throw new RangeError(`a cost cannot be negative: ${amount} pico-USD`)
  return (amount + PICO_PER_NANO - 1n) / PICO_PER_NANO
}

/**
 * USD per million tokens, as people write prices, to pico-USD per token: both are the same number times 10^6. A finer
 * price, such as a third, is rounded up, so that a hold covers what the provider will bill.
 */
export function pricePerMillion(usd: number): Picodollars {
  const nearest = Math.round(usd * 1_000_000)
  const price = nearest / 1_000_000 < usd ? nearest + 1 : nearest
  if (!Number.isSafeInteger(price) || usd < 0) {
    throw new RangeError(`${usd} is not a price in USD per million tokens`)
  }
  return BigInt(price)
}
