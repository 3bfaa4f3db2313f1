// Amounts are decimal strings in USD with at most 9 places, so they are counted in whole nanodollars, never as floats.

const places = 9

/** What is left of one amount without the other; never below zero. */
export function minus(amount: string, other: string): string {
  const left = nanodollars(amount) - nanodollars(other)
  return written(left < 0n ? 0n : left)
}

export function sumOf(amounts: readonly string[]): string {
  return written(amounts.reduce((sum, amount) => sum + nanodollars(amount), 0n))
}

export function isMore(amount: string, other: string): boolean {
  return nanodollars(amount) > nanodollars(other)
}

/** Whether two ways of writing are the same amount: 5 and 5.00. */
export function isSame(amount: string | null, other: string | null): boolean {
  if (amount === null || other === null) return amount === other
  return nanodollars(amount) === nanodollars(other)
}

function nanodollars(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(places, '0'))
}

function written(nano: bigint): string {
  const digits = String(nano).padStart(places + 1, '0')
  const fraction = digits.slice(-places).replace(/0+$/, '')
  return fraction === '' ? digits.slice(0, -places) : `${digits.slice(0, -places)}.${fraction}`
}
