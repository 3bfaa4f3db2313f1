// Comma-separated values, for spreadsheets.

export function csvText(
  names: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string {
  return [names, ...rows].map((row) => row.map(cell).join(',')).join('\n')
}

/** Spreadsheets run what begins like a formula, and clients choose the names of models. */
function cell(value: string | number | null): string {
  const text = String(value ?? '')
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
