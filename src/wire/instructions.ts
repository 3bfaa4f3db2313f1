// Instructions in words, for formats that have no field for them.

/** For formats without a JSON mode. */
export const JSON_ONLY =
  'Answer with one valid JSON object and nothing else: no explanation, no code fence.'

/** An instruction between turns, for formats that accept them only before all turns: it goes into the user's turn. */
export function lateInstruction(text: string): string {
  return `<system>\n${text}\n</system>`
}
