// Comma-separated values, for spreadsheets.

export function csvText(
  names: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string {
  return [names, ...rows].map((row) => row.map(cell).join(',')).join('\n')
}

/**
 * Spreadsheets run what begins like a formula, and clients choose the names of models. Where a comma separates decimals,
 * they split at semicolons instead, and heed no quotes within a line.
 */
function cell(value: string | number | null): string {
  const safe = String(value ?? '').replaceAll(/(^|[;\t\r\n][ "]*)(?=[=+\-@＝＋－＠])/g, "$1'")
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
