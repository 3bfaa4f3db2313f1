// An amount as a person types it, with comma or point, to the decimal string that the gateway reads.

/** Undefined when it is no amount. */
export function readAmount(typed: string): string | undefined {
  const text = typed.trim().replace(',', '.')
  if (!/^\d{1,7}(\.\d{1,9})?$/.test(text) || Number(text) > 9_000_000) return undefined
  return text
}
